/** Shows one phase: its steps with their attempts, and its artifact. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Refusal, Skeleton } from '../../ui/empty.tsx';
import { Folded } from '../../ui/folded.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Value } from '../../ui/json.tsx';
import { money } from '../../ui/figures.ts';
import { Money } from '../../ui/money.tsx';
import { notify } from '../../ui/notice.tsx';
import { Status } from '../../ui/status.tsx';
import { Took } from '../../ui/time.tsx';
import { ArtifactView } from './artifact.tsx';
import { attemptsQuery, stepsQuery } from './queries.ts';
import { Retrigger } from './retrigger.tsx';
import { isEnded, type Artifact, type Phase, type Project, type Step } from './types.ts';

interface PhaseViewProps {
  project: Project;
  phase: Phase;
  artifacts: readonly Artifact[];
  /** The current artifacts of the phases before it that are newer than its own. */
  newer: readonly Artifact[];
  version: number | undefined;
  against: number | undefined;
}

const ENDED = ['succeeded', 'failed', 'skipped', 'stale'];

export function PhaseView({ project, phase, artifacts, newer, version, against }: PhaseViewProps) {
  const steps = useQuery(stepsQuery(project.id, phase.id));
  const [asks, setAsks] = useState(false);
  const session = useSession();
  const isRegular = phase.task_kind === 'regular';
  return (
    <section aria-label={phase.title} className="space-y-4 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="flex items-center gap-2 text-lg font-semibold">
          {phase.title} <Status status={phase.status} className="text-sm font-normal" />
        </h2>
        <span className="tabular text-sm text-soft">
          <Money usd={phase.cost_usd} isPriced={phase.is_priced} />
        </span>
        {isRegular && ENDED.includes(phase.status) && project.status !== 'abandoned' && mayChange(session) && (
          <Button icon="retry" className="ml-auto" onClick={() => setAsks(true)}>
            Run the phase again
          </Button>
        )}
      </div>
      {phase.status === 'stale' && (
        <p className="text-warn">
          {newer.length === 0
            ? 'What it was made from has changed since.'
            : `What it was made from has changed since: ${newer.map(({ phase_slug: slug, version: v }) => `${slug} v${v}`).join(' and ')} ${newer.length === 1 ? 'is' : 'are'} newer.`}
        </p>
      )}
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <div className="card min-w-0">
          <h3 className="border-b px-3 py-2 text-sm font-medium text-soft">Steps</h3>
          {steps.data ? (
            <ol>
              {steps.data.data.map((step) => (
                <li key={step.id} className="border-b last:border-0">
                  <StepView project={project} step={step} />
                </li>
              ))}
            </ol>
          ) : (
            <Skeleton rows={4} />
          )}
        </div>
        {isRegular && (
          <div className="card min-w-0">
            <h3 className="border-b px-3 py-2 text-sm font-medium text-soft">Artifact</h3>
            <ArtifactView project={project} versions={artifacts} version={version} against={against} />
          </div>
        )}
      </div>
      <Retrigger project={project} phase={phase} isOpen={asks} onClose={() => setAsks(false)} />
    </section>
  );
}

function StepView({ project, step }: { project: Project; step: Step }) {
  const [isOpen, setOpen] = useState(step.status === 'failed');
  const client = useQueryClient();
  const retry = useMutation({
    mutationFn: () => post(`/v1/projects/${project.id}/subtasks/${step.id}/retry`),
    onSuccess: () => notify('Another attempt is queued'),
    onSettled: () => client.invalidateQueries({ queryKey: ['projects', 'one', project.id] }),
  });
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="flex min-h-9 flex-wrap items-center gap-x-3 px-3 py-1 text-sm hover:bg-raised">
        <Status status={step.status} isIconOnly />
        <span className="min-w-0 flex-1 truncate font-medium">{step.title}</span>
        <span className="text-soft max-sm:hidden">
          {step.kind === 'gate' ? `${step.gate_kind} gate` : (step.assignee ?? step.kind)}
        </span>
        <span className="tabular text-soft">
          <Took from={step.started_at} to={step.completed_at} />
        </span>
        <span className="tabular w-20 text-right">
          <Money usd={step.cost_usd} isPriced={step.is_priced} />
        </span>
      </summary>
      <div className="space-y-3 border-t bg-raised/50 p-3">
        {step.error && <p className="break-words text-bad">{step.error}</p>}
        {step.instructions && (
          <details>
            <summary className="text-sm text-soft">Instructions</summary>
            <Folded text={step.instructions} />
          </details>
        )}
        {isOpen && step.kind !== 'gate' && <Attempts project={project} step={step} />}
        <Refusal error={retry.error} />
        {step.status === 'failed' && !isEnded(project) && (
          <p className="flex flex-wrap items-center gap-x-3">
            <Button icon="retry" isBusy={retry.isPending} onClick={() => retry.mutate()}>
              Try the step again
            </Button>
            {step.attempt_count > 0 && (
              <span className="tabular text-sm text-soft">
                About {money(Number(step.cost_usd) / step.attempt_count)}, as its attempts cost so far
              </span>
            )}
          </p>
        )}
      </div>
    </details>
  );
}

function Attempts({ project, step }: { project: Project; step: Step }) {
  const { data } = useQuery(attemptsQuery(project.id, step.id));
  if (!data) return <Skeleton rows={2} />;
  if (data.data.length === 0) return <p className="text-sm text-soft">No attempt yet.</p>;
  return (
    <ol className="space-y-2">
      {data.data.map((attempt) => (
        <li key={attempt.id} className="space-y-1 text-sm">
          <div className="flex flex-wrap items-center gap-x-3">
            <Status status={attempt.status} />
            <span>attempt {attempt.attempt_number}</span>
            <span className="text-soft">{attempt.attempt_reason.replaceAll('_', ' ')}</span>
            <span className="tabular text-soft">
              <Took from={attempt.started_at} to={attempt.completed_at} />
            </span>
            <span className="tabular text-soft">
              <Money usd={attempt.cost_usd} isPriced={attempt.is_priced} />
            </span>
            {attempt.child_run_id && (
              <Link
                to="/runs/$runId"
                params={{ runId: attempt.child_run_id }}
                className="inline-flex min-h-6 items-center gap-1 text-accent underline"
              >
                <Icon name="runs" /> run
              </Link>
            )}
          </div>
          {attempt.error && <p className="break-words text-bad">{attempt.error}</p>}
          {attempt.output !== null && <Value value={attempt.output} label="the output" />}
        </li>
      ))}
    </ol>
  );
}
