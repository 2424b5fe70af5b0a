/** Says what a command would run and about what that costs, before it is given. */
import { useQuery } from '@tanstack/react-query';
import type { Estimate } from '../../api/types.ts';
import { Refusal } from '../../ui/empty.tsx';
import { money, plural } from '../../ui/figures.ts';
import { estimateQuery, type Thought } from './queries.ts';

type Phase = Estimate['phases'][number];

const BASES: Record<Phase['basis'], (samples: number) => string> = {
  this_project: () => 'its last run here',
  earlier_projects: (samples) => plural(samples, 'earlier project'),
  agents: () => 'other runs of its agents',
  nothing: () => 'never ran before',
};

/** More phases are folded, so that what they cost together is seen first. */
const FEW = 6;

export function EstimateView({ projectId, thought }: { projectId: string; thought: Thought }) {
  const { data, error } = useQuery(estimateQuery(projectId, thought));
  return (
    <section aria-label="What it runs and costs" className="min-h-24 rounded-md border p-3 text-sm">
      {error ? <Refusal error={error} /> : data ? <Figures estimate={data} /> : <p className="text-soft">Estimates</p>}
    </section>
  );
}

function Figures({ estimate }: { estimate: Estimate }) {
  const { phases, marked_stale: stale, cost_usd: usd, low_usd: low, high_usd: high, budget_left_usd: left } = estimate;
  const unknown = phases.filter(({ basis }) => basis === 'nothing').length;
  return (
    <div className="tabular space-y-2">
      {phases.length === 0 ? (
        <p>No phase runs because of it.</p>
      ) : (
        <details open={phases.length <= FEW}>
          <summary className="font-medium pointer-coarse:min-h-11">{plural(phases.length, 'phase')} will run</summary>
          <table className="w-full">
            <caption className="sr-only">Phases that will run</caption>
            <tbody>
              {phases.map(({ phase_slug: slug, title, cost_usd: cost, basis, samples }) => (
                <tr key={slug}>
                  <th scope="row" className="pr-3 text-left font-normal">
                    {title}
                  </th>
                  <td className="pr-3 text-right whitespace-nowrap">
                    {cost === null ? 'not known' : `about ${money(cost)}`}
                  </td>
                  <td className="text-soft max-sm:hidden">{BASES[basis](samples)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
      {usd !== null && (
        <p className="font-medium">
          Together about {money(usd)}
          {low !== null && high !== null && low !== high && `, between ${money(low)} and ${money(high)}`}
          {unknown > 0 && `, and ${plural(unknown, 'phase')} of which nothing is known`}.
        </p>
      )}
      {left !== null && (
        <p className={Number(high ?? 0) > Number(left) ? 'text-warn' : 'text-soft'}>
          {money(left)} of the budget is left
          {Number(high ?? 0) > Number(left) && ': it may stop before it is through'}.
        </p>
      )}
      {stale.length > 0 && <p>Becomes stale, and does not run: {stale.join(', ')}.</p>}
    </div>
  );
}
