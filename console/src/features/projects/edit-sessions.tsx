/**
 * Asks for changes of a project in words. A planner proposes what to change; its plan is approved, changed or rejected
 * before anything is done.
 */
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import type { ProjectsStartEditSessionResponse } from '../../api/types.ts';
import { mayChange, useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { NoteField } from '../../ui/field.tsx';
import { notify } from '../../ui/notice.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { CascadeField, type Cascade } from './cascade.tsx';
import type { Phase, Project } from './types.ts';

/** A plan can be given up before it is made, while it waits, and after making it has failed, but not once it is enacted. */
const DISCARDABLE = ['pending', 'running', 'review', 'blocked', 'failed'];

export function EditSessions({ project, sessions }: { project: Project; sessions: readonly Phase[] }) {
  const client = useQueryClient();
  const navigate = useNavigate({ from: '/projects/$projectId' });
  const may = mayChange(useSession()) && project.status !== 'abandoned';
  const [isAsking, setAsking] = useState(false);
  const [discarded, setDiscarded] = useState<Phase>();
  const [instruction, setInstruction] = useState('');
  const [cascade, setCascade] = useState<Cascade>('lazy');
  const path = `/v1/projects/${project.id}/edit-sessions`;
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['projects', 'one', project.id] }),
      client.invalidateQueries({ queryKey: ['inbox'] }),
    ]);
  if (!may && sessions.length === 0) return null;
  return (
    <section aria-label="Changes asked for" className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-2">
      {may && <Button onClick={() => setAsking(true)}>Ask for changes</Button>}
      {sessions.length === 0 && (
        <p className="text-sm text-soft">Say what should be different: a plan is proposed first.</p>
      )}
      <ul className="min-w-0 flex-1 text-sm">
        {sessions.map((session) => (
          <li key={session.id} className="flex flex-wrap items-center gap-x-3">
            <Link
              from="/projects/$projectId"
              to="."
              search={{ phase: session.phase_slug }}
              className="flex min-h-8 min-w-0 items-center gap-2 hover:underline pointer-coarse:min-h-11"
            >
              <Status status={session.status} />
              <span className="truncate">{session.title}</span>
            </Link>
            {session.started_at && <Time at={session.started_at} className="tabular text-soft" />}
            {may && DISCARDABLE.includes(session.status) && (
              <Button look="ghost" onClick={() => setDiscarded(session)}>
                Discard
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Confirm
        title="Ask for changes"
        action="Have a plan made"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          const made = await post<ProjectsStartEditSessionResponse>(path, {
            instruction: instruction.trim(),
            cascade_mode: cascade,
          });
          await refresh();
          setInstruction('');
          notify('A plan is being made. It waits here for your answer');
          const { data } = client.getQueryData<{ data: Phase[] }>(['projects', 'one', project.id, '/tasks']) ?? {
            data: [],
          };
          const slug = data.find(({ id }) => id === made.task_id)?.phase_slug;
          if (slug) void navigate({ search: { phase: slug } });
        }}
      >
        <NoteField
          label="What should be different"
          hint="In your own words. A planner reads the artifacts and proposes what to write or to run again."
          value={instruction}
          onChange={setInstruction}
        />
        <CascadeField value={cascade} onChange={setCascade} />
        <p className="text-sm text-soft">
          Nothing is changed before you approve the plan. Making it costs one run of the planner.
        </p>
      </Confirm>
      <Confirm
        title="Discard this plan?"
        action="Discard it"
        isDangerous
        isOpen={discarded !== undefined}
        onClose={() => setDiscarded(undefined)}
        onConfirm={async () => {
          await post(`${path}/${discarded?.id}/approve`, { decision: 'rejected' });
          await refresh();
          notify('The plan was discarded. Nothing was changed');
        }}
      >
        <p>None of it is done, and a plan that is being made is not finished. What making it has cost stays spent.</p>
      </Confirm>
    </section>
  );
}
