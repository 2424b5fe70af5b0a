/** Shows what runs cost, grouped by agent, model, project or day. Each row has a bar, so the table is the chart. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { addressOf, get } from '../../api/client.ts';
import type { CostForecastResponse, CostOfKey, CostRollupResponse } from '../../api/types.ts';
import { controlPlaneCurl } from '../../ui/commands.ts';
import { CopyAs } from '../../ui/copy.tsx';
import { Empty, Problem, Skeleton } from '../../ui/empty.tsx';
import { count, money, plural } from '../../ui/figures.ts';
import { Filters } from '../../ui/filters.tsx';
import { Money } from '../../ui/money.tsx';
import { GROUPS, WINDOWS, type CostSearch } from './view.ts';

const GROUP_WORDS: Record<(typeof GROUPS)[number], string> = {
  agent: 'By agent',
  model: 'By model',
  project: 'By project',
  day: 'By day',
};

export function Spent() {
  const { by = 'agent', window = '7d' } = useSearch({ strict: false }) as CostSearch;
  const navigate = useNavigate();
  const asked = { window, group_by: by };
  const { data, error, refetch } = useQuery({
    queryKey: ['costs', asked],
    queryFn: ({ signal }) => get<CostRollupResponse>('/v1/cost/rollup', asked, signal),
  });
  const go = (search: CostSearch) => void navigate({ to: '/costs', search: { by, window, ...search } as never });
  return (
    <>
      <div className="flex flex-wrap items-center border-b bg-surface *:border-b-0">
        <Filters
          label="Grouped"
          filters={GROUPS.map((each) => ({
            key: each,
            label: GROUP_WORDS[each],
            isOn: by === each,
            onPick: () => go({ by: each }),
          }))}
        />
        <Filters
          label="Window"
          filters={WINDOWS.map((each) => ({
            key: each,
            label: each,
            isOn: window === each,
            onPick: () => go({ window: each }),
          }))}
        />
        <div className="ml-auto pr-4">
          <CopyAs
            curl={controlPlaneCurl({ path: addressOf('/v1/cost/rollup', asked) })}
            aos={`npx aos costs --by ${by} --window ${window}`}
          />
        </div>
      </div>
      <Month />
      {error ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Rollup rollup={data} by={by} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}

/** Shows what the month may come to, whatever is chosen below: the window is for looking back. */
function Month() {
  const { data } = useQuery({
    queryKey: ['costs', 'month'],
    queryFn: ({ signal }) => get<CostForecastResponse>('/v1/cost/forecast', undefined, signal),
    staleTime: 60_000,
  });
  if (!data) return <section aria-label="This month" className="min-h-18 border-b" />;
  const { spent_usd: spent, p50_usd: half, p90_usd: most, based_on: based } = data;
  return (
    <section aria-label="This month" className="tabular min-h-18 border-b px-4 py-3">
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        <Figure name="Spent this month" value={`${based.unpriced_runs > 0 ? '≥ ' : ''}${money(spent)}`} />
        {half !== null && <Figure name="By the end of the month" value={`about ${money(half)}`} />}
        {most !== null && <Figure name="Nine times in ten at most" value={money(most)} />}
      </dl>
      <p className="pt-1 text-xs text-soft">
        {half === null
          ? 'What the month may come to is said here once seven days with the service are over.'
          : `From what the weekdays of the last ${plural(based.days, 'day')} cost, of which ${based.days_with_spend} had any cost; days are those of UTC.`}
      </p>
    </section>
  );
}

function Rollup({ rollup: { data, meta }, by }: { rollup: CostRollupResponse; by: (typeof GROUPS)[number] }) {
  if (data.length === 0) {
    return <Empty title="Nothing ran in this window">A run counts to the window in which it was accepted.</Empty>;
  }
  const most = Math.max(...data.map(({ cost_usd: usd }) => Number(usd)), Number.MIN_VALUE);
  const unpriced = data.reduce((sum, { unpriced_runs: n }) => sum + n, 0);
  return (
    <div className="space-y-4 p-4">
      <dl className="tabular flex flex-wrap gap-x-8 gap-y-2">
        <Figure name="Spent" value={`${unpriced > 0 ? '≥ ' : ''}${money(meta.total_cost_usd)}`} />
        {Number(meta.saved_usd) > 0 && <Figure name="Saved by caches" value={money(meta.saved_usd)} />}
        <Figure name="Runs" value={count(meta.run_count)} />
        <Figure name="With an unknown price" value={count(unpriced)} />
      </dl>
      <div tabIndex={0} role="group" aria-label="Costs" className="card overflow-x-auto">
        <table className="tabular w-full text-sm">
          <caption className="sr-only">{GROUP_WORDS[by]}</caption>
          <thead>
            <tr className="border-b text-left text-xs text-soft">
              <th scope="col" className="px-3 py-1.5 font-normal">
                {GROUP_WORDS[by].slice(3).replace(/^./, (letter) => letter.toUpperCase())}
              </th>
              <th scope="col" className="w-2/5 px-3 py-1.5 font-normal max-sm:hidden">
                Share
              </th>
              <th scope="col" className="px-3 py-1.5 text-right font-normal">
                Cost
              </th>
              <th scope="col" className="px-3 py-1.5 text-right font-normal">
                Runs
              </th>
              <th scope="col" className="px-3 py-1.5 text-right font-normal max-sm:hidden">
                Tokens in, out
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map((row) => (
              <tr key={row.key} className="border-b last:border-0">
                <th scope="row" className="px-3 py-1.5 text-left font-medium">
                  <Name row={row} by={by} />
                </th>
                <td className="px-3 py-1.5 max-sm:hidden">
                  <span
                    aria-hidden="true"
                    className="block h-3 rounded-sm bg-accent"
                    style={{ width: `${Math.max(0.5, (100 * Number(row.cost_usd)) / most)}%` }}
                  />
                </td>
                <td className="px-3 py-1.5 text-right">
                  <Money usd={row.cost_usd} isPriced={row.unpriced_runs === 0} />
                </td>
                <td className="px-3 py-1.5 text-right">{count(row.run_count)}</td>
                <td className="px-3 py-1.5 text-right text-soft max-sm:hidden">
                  {count(row.input_tokens)}, {count(row.output_tokens)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {unpriced > 0 && (
        <p className="text-sm text-warn">
          {plural(unpriced, 'run')} called a model whose price is not known: what they cost is not in these figures.
        </p>
      )}
    </div>
  );
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt className="text-xs text-soft">{name}</dt>
    <dd className="text-xl font-semibold">{value}</dd>
  </div>
);

const link = 'inline-flex min-h-6 items-center text-accent underline';

/** What has no such name, because nobody picked one yet or it belongs to none. */
const NONE: Record<(typeof GROUPS)[number], string> = {
  agent: 'no agent yet',
  model: 'no model yet',
  project: 'runs outside projects',
  day: 'no day',
};

function Name({ row: { key }, by }: { row: CostOfKey; by: (typeof GROUPS)[number] }) {
  if (key === null) return <span className="text-soft">{NONE[by]}</span>;
  if (by === 'project') {
    return (
      <Link to="/projects/$projectId" params={{ projectId: key }} className={link}>
        {key}
      </Link>
    );
  }
  if (by === 'agent') {
    return (
      <Link to="/runs" search={{ agent: key }} className={link}>
        {key}
      </Link>
    );
  }
  return key;
}
