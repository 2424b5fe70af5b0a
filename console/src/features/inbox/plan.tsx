/** Shows a planner's plan, one action after another, and how each artifact that it writes would change. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { EditPlan } from '../../api/types.ts';
import { Content } from '../../ui/content.tsx';
import { Skeleton } from '../../ui/empty.tsx';
import { money } from '../../ui/figures.ts';
import { asText } from '../../ui/json.tsx';
import { artifactsQuery } from '../projects/queries.ts';

const Diff = lazy(() => import('../../ui/diff.tsx').then((module) => ({ default: module.Diff })));

const KINDS: Record<EditPlan['actions'][number]['kind'], string> = {
  edit_artifact: 'Writes the artifact',
  retrigger: 'Runs the phase again',
  instruct: 'Runs the phase again, with instructions',
};

export function Plan({ plan, projectId }: { plan: EditPlan; projectId: string }) {
  return (
    <section aria-label="The plan" className="card divide-y">
      <div className="p-3">
        <Content content={plan.summary} />
      </div>
      {plan.actions.map((action, i) => (
        <article key={i} className="space-y-2 p-3">
          <h3 className="flex flex-wrap gap-x-3 font-medium">
            {i + 1}. {action.phase_slug}: {KINDS[action.kind]}
            <span className="tabular font-normal text-soft">
              {[
                action.risk && `${action.risk} risk`,
                action.estimated_cost_usd !== undefined && `about ${money(action.estimated_cost_usd)}`,
              ]
                .filter(Boolean)
                .join(', ')}
            </span>
          </h3>
          <Content content={action.rationale} />
          {action.kind === 'instruct' && <Content content={action.instructions} />}
          {action.kind === 'edit_artifact' && (
            <NewContent projectId={projectId} phase={action.phase_slug} content={action.content} />
          )}
        </article>
      ))}
    </section>
  );
}

function NewContent({ projectId, phase, content }: { projectId: string; phase: string; content: unknown }) {
  const { data, isPending } = useQuery(artifactsQuery(projectId));
  if (isPending) return <Skeleton rows={3} />;
  const now = data?.data.find(({ phase_slug: slug, superseded }) => slug === phase && !superseded);
  if (!now) return <Content content={content} />;
  return (
    <Suspense fallback={<Skeleton rows={3} />}>
      <Diff from={asText(now.content)} to={asText(content)} label={`v${now.version} of ${phase} to the plan’s`} />
    </Suspense>
  );
}
