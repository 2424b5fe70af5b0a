/** Shows how much the memory holds, and whose it is. */
import type { MemoryStatsResponse } from '../../api/types.ts';
import { count } from '../../ui/figures.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Table } from '../../ui/table.tsx';

const GROUPS = [
  ['By agent', 'by_agent'],
  ['By type', 'by_type'],
  ['By scope', 'by_scope'],
] as const;

export const MemoryCounts = () => (
  <Loaded<MemoryStatsResponse> path="/v1/memory/stats">
    {(stats) => (
      <div className="space-y-4 p-4">
        <p className="tabular text-xl font-semibold">{count(stats.total)} entries</p>
        <div className="grid items-start gap-4 lg:grid-cols-3">
          {GROUPS.map(([label, group]) => (
            <section key={group} aria-label={label} className="card min-w-0 overflow-x-auto">
              <Table
                label={label}
                rows={stats[group]}
                idOf={(row) => row.key}
                columns={[
                  { name: label, cell: (row) => row.key },
                  { name: 'Entries', cell: (row) => count(row.count), isRight: true },
                ]}
              />
            </section>
          ))}
        </div>
      </div>
    )}
  </Loaded>
);
