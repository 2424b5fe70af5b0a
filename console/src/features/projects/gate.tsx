/** A gate that waits for a person: what is asked, what it is about, and the two answers. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { notify } from '../../ui/notice.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { Content } from './artifact.tsx';
import type { Attempt, Phase, Project, Step } from './types.ts';

interface GateProps {
  project: Project;
  phase: Phase;
  step: Step;
  /** What the steps before it made, the latest last. */
  work: readonly { step: Step; attempt: Attempt }[];
}

export function Gate({ project, phase, step, work }: GateProps) {
  const session = useSession();
  const client = useQueryClient();
  const [comment, setComment] = useState('');
  const answer = useMutation({
    mutationFn: (decision: 'approved' | 'rejected') =>
      post(`/v1/projects/${project.id}/subtasks/${step.id}/resolve-gate`, {
        decision,
        ...(comment.trim() && { comment }),
      }),
    onSuccess: (_done, decision) => notify(decision === 'approved' ? 'Approved' : 'Rejected'),
    onSettled: () => client.invalidateQueries({ queryKey: ['projects', 'one', project.id] }),
  });
  const prompt = typeof step.gate_config?.prompt === 'string' ? step.gate_config.prompt : step.title;
  const made = work.findLast(({ step: { role } }) => role === 'producer') ?? work.at(-1);
  const reviews = work.filter(({ step: { role } }) => role !== 'producer');
  return (
    <section aria-label={`${phase.title} waits for an answer`} className="card border-warn">
      <h2 className="flex flex-wrap items-center gap-2 border-b px-3 py-2 font-medium">
        <Status status="blocked" /> {phase.title}: {step.title}
        {step.started_at && (
          <span className="tabular ml-auto text-sm font-normal text-soft">
            since <Time at={step.started_at} />
          </span>
        )}
      </h2>
      <div className="space-y-3 p-3">
        <p>{prompt}</p>
        {made && (
          <details className="rounded-md border" open>
            <summary className="px-2 py-1 text-sm text-soft">
              What it is about: {made.step.title}, attempt {made.attempt.attempt_number}
            </summary>
            <div
              tabIndex={0}
              role="group"
              aria-label="What it is about"
              className="max-h-96 overflow-y-auto border-t p-3"
            >
              <Content content={made.attempt.output} />
            </div>
          </details>
        )}
        {reviews.map(({ step: { id, title }, attempt }) => (
          <details key={id} className="rounded-md border">
            <summary className="px-2 py-1 text-sm text-soft">{title}: what was said</summary>
            <div className="border-t p-3">
              <Content content={attempt.output} />
            </div>
          </details>
        ))}
        {step.gate_kind === 'human' ? (
          <>
            <Field label="Comment" hint="With a rejection: what should change. It is handed to whoever does it again.">
              {(props) => (
                <textarea
                  {...props}
                  rows={2}
                  maxLength={10_000}
                  className="field w-full py-1.5"
                  value={comment}
                  onChange={({ target }) => setComment(target.value)}
                />
              )}
            </Field>
            <Refusal error={answer.error} />
            <div className="flex flex-wrap gap-2">
              <Button
                look="primary"
                icon="check"
                disabled={session.is_archived}
                isBusy={answer.isPending && answer.variables === 'approved'}
                onClick={() => answer.mutate('approved')}
              >
                Approve
              </Button>
              <Button
                look="danger"
                icon="cross"
                disabled={session.is_archived}
                isBusy={answer.isPending && answer.variables === 'rejected'}
                onClick={() => answer.mutate('rejected')}
              >
                Reject
              </Button>
            </div>
          </>
        ) : (
          <p className="text-soft">It is answered from outside: a {step.gate_kind ?? ''} gate.</p>
        )}
      </div>
    </section>
  );
}
