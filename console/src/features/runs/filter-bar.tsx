/** Narrows a list of runs: by status, with counts, and by one box for an id or a text. The address holds all of it. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Choice } from '../../ui/choice.tsx';
import { cx } from '../../ui/cx.ts';
import { count } from '../../ui/figures.ts';
import { AGES } from '../../ui/ages.ts';
import { SearchBox } from '../../ui/search-box.tsx';
import { Status } from '../../ui/status.tsx';
import { isFiltered, type RunFilters } from './filters.ts';
import { agentsQuery, runCountsQuery } from './queries.ts';
import { RUN_STATUSES, TRANSPORTS, type RunStatus } from './types.ts';

interface FilterBarProps {
  filters: RunFilters;
  onChange: (filters: RunFilters) => void;
}

const COSTS = [
  ['', 'Any cost'],
  ['0.01', '$0.01 or more'],
  ['0.1', '$0.10 or more'],
  ['1', '$1 or more'],
  ['10', '$10 or more'],
] as const;

export function FilterBar({ filters, onChange }: FilterBarProps) {
  const change = (part: Partial<Record<keyof RunFilters, unknown>>) => {
    const next = Object.entries({ ...filters, ...part }).filter(([, value]) => value !== undefined && value !== '');
    onChange(Object.fromEntries(next) as RunFilters);
  };
  const agents = useQuery(agentsQuery);
  // On a phone these would fill half of the window, so they are shown when they are asked for.
  const [areShown, setShown] = useState(false);
  const { agent, transport, hours, cost } = filters;
  const narrowing = [agent, transport, hours, cost].filter((each) => each !== undefined).length;
  return (
    <div className="flex flex-col gap-2 border-b bg-surface px-4 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox
          label="Search runs by id or text"
          placeholder="Id, or a text of the prompt"
          text={filters.q ?? ''}
          onChange={(q) => change({ q })}
        />
        <Button className="sm:hidden" aria-expanded={areShown} onClick={() => setShown(!areShown)}>
          {narrowing > 0 ? `Filters, ${narrowing} set` : 'Filters'}
        </Button>
        <div className={cx('w-full grid-cols-2 gap-2 sm:contents', areShown ? 'grid' : 'max-sm:hidden')}>
          <Choice
            label="Agent"
            value={filters.agent ?? ''}
            options={[['', 'Any agent'], ...(agents.data ?? []).map(({ slug }): [string, string] => [slug, slug])]}
            onChange={(agent) => change({ agent })}
          />
          <Choice
            label="Transport"
            value={filters.transport ?? ''}
            options={[['', 'Any transport'], ...TRANSPORTS.map((name): [string, string] => [name, name])]}
            onChange={(transport) => change({ transport })}
          />
          <Choice
            label="Age"
            value={String(filters.hours ?? '')}
            options={AGES}
            onChange={(hours) => change({ hours: hours === '' ? undefined : Number(hours) })}
          />
          <Choice label="Cost" value={filters.cost ?? ''} options={COSTS} onChange={(cost) => change({ cost })} />
        </div>
        {isFiltered(filters) && (
          <button
            type="button"
            className="min-h-8 rounded px-1 text-accent hover:underline"
            onClick={() => onChange({})}
          >
            Clear
          </button>
        )}
      </div>
      <StatusTabs agent={filters.agent} status={filters.status} onChange={(status) => change({ status })} />
    </div>
  );
}

interface StatusTabsProps {
  agent: string | undefined;
  status: RunStatus | undefined;
  onChange: (status: RunStatus | undefined) => void;
}

function StatusTabs({ agent, status, onChange }: StatusTabsProps) {
  const counts = useQuery(runCountsQuery(agent)).data;
  const total = counts && Object.values(counts).reduce((sum, n) => sum + n, 0);
  const tab = (value: RunStatus | undefined, n: number | undefined) => (
    <button
      key={value ?? 'all'}
      type="button"
      aria-pressed={status === value}
      onClick={() => onChange(value)}
      className={cx(
        'flex min-h-7 items-center gap-1.5 rounded-md border px-2 pointer-coarse:min-h-11',
        status === value ? 'border-strong bg-raised' : 'border-transparent hover:bg-raised',
      )}
    >
      {value ? <Status status={value} isStill /> : 'All'}
      <span className="tabular min-w-3 text-soft">{n === undefined ? '' : count(n)}</span>
    </button>
  );
  return (
    <div role="group" aria-label="Status" className="-mx-1 flex gap-0.5 overflow-x-auto px-1 text-sm">
      {tab(undefined, total)}
      {RUN_STATUSES.map((value) => tab(value, counts?.[value]))}
    </div>
  );
}
