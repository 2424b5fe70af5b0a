/** Offers what can be done with a whole project, and the same as commands for a terminal. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import type { ProjectsRunStepResponse } from '../../api/types.ts';
import { mayChange, temporalUrl, useSession } from '../../api/session.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { controlPlaneCurl } from '../../ui/commands.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { CopyAs } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify, notifyProblem } from '../../ui/notice.tsx';
import { EstimateView } from './estimate.tsx';
import { isEnded, type Project } from './types.ts';

export function ProjectActions({ project }: { project: Project }) {
  const session = useSession();
  const client = useQueryClient();
  const [asks, setAsks] = useState<'abandon' | 'resume'>();
  const path = `/v1/projects/${project.id}`;
  const refresh = () => client.invalidateQueries({ queryKey: ['projects'] });
  const deed = useMutation({
    mutationFn: () => post(`${path}/pause`),
    onSuccess: () => notify('Paused: steps in flight finish'),
    onError: notifyProblem,
    onSettled: refresh,
  });
  const stepping = useMutation({
    mutationFn: () => post<ProjectsRunStepResponse>(`${path}/run-step`),
    onSuccess: (ran) => notify('message' in ran ? ran.message : `One step ran: ${ran.status}`),
    onError: notifyProblem,
    onSettled: refresh,
  });
  const engine = temporalUrl(session, `project-${project.id}`);
  const isStill = isEnded(project) || !mayChange(session);
  return (
    <>
      {engine && (
        <a href={engine} target="_blank" rel="noreferrer" className={buttonClass('ghost', 'max-lg:hidden')}>
          <Icon name="external" /> Open in Temporal
        </a>
      )}
      <span className="max-sm:hidden">
        <CopyAs curl={controlPlaneCurl({ path })} aos={`npx aos project show ${project.id}`} />
      </span>
      {!isStill && project.status === 'paused' && (
        <>
          <Button isBusy={stepping.isPending} onClick={() => stepping.mutate()}>
            Run one step
          </Button>
          <Button look="primary" onClick={() => setAsks('resume')}>
            Resume
          </Button>
        </>
      )}
      {!isStill && project.status === 'active' && (
        <Button icon="pause" isBusy={deed.isPending} onClick={() => deed.mutate()}>
          Pause
        </Button>
      )}
      {!isStill && (
        <Button look="danger" icon="stop" onClick={() => setAsks('abandon')}>
          Abandon
        </Button>
      )}
      <Confirm
        title="Resume this project?"
        action="Go on"
        isOpen={asks === 'resume'}
        onClose={() => setAsks(undefined)}
        onConfirm={async () => {
          await post(`${path}/resume`);
          await Promise.all([refresh(), client.invalidateQueries({ queryKey: ['inbox'] })]);
          notify('Goes on');
        }}
      >
        <p>
          What died meanwhile is queued again first. Steps that have failed stay failed; try those again themselves.
        </p>
        {asks === 'resume' && <EstimateView projectId={project.id} thought={{ of: 'resume' }} />}
      </Confirm>
      <Confirm
        title="Abandon this project?"
        action="Abandon it"
        isDangerous
        isOpen={asks === 'abandon'}
        onClose={() => setAsks(undefined)}
        onConfirm={async () => {
          await post(`${path}/abandon`);
          await refresh();
          notify('The project was abandoned');
        }}
      >
        <p>
          It ends for good: what is in flight is cancelled, and it cannot be resumed. Its artifacts stay, and what it
          has spent stays spent.
        </p>
      </Confirm>
    </>
  );
}
