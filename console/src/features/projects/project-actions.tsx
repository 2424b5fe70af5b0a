/** Offers what can be done with a whole project, and the same as commands for a terminal. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { mayChange, temporalUrl, useSession } from '../../api/session.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { controlPlaneCurl } from '../../ui/commands.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { CopyAs } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify, notifyProblem } from '../../ui/notice.tsx';
import { isEnded, type Project } from './types.ts';

export function ProjectActions({ project }: { project: Project }) {
  const session = useSession();
  const client = useQueryClient();
  const [asks, setAsks] = useState(false);
  const path = `/v1/projects/${project.id}`;
  const refresh = () => client.invalidateQueries({ queryKey: ['projects'] });
  const deed = useMutation({
    mutationFn: (verb: 'pause' | 'resume') => post(`${path}/${verb}`),
    onSuccess: (_done, verb) => notify(verb === 'pause' ? 'Paused: steps in flight finish' : 'Goes on'),
    onError: notifyProblem,
    onSettled: refresh,
  });
  const engine = temporalUrl(session, `project-${project.id}`);
  const isStill = isEnded(project) || !mayChange(session);
  return (
    <>
      {engine && (
        <a href={engine} target="_blank" rel="noreferrer" className={buttonClass('ghost', 'max-md:hidden')}>
          <Icon name="external" /> Open in Temporal
        </a>
      )}
      <span className="max-sm:hidden">
        <CopyAs curl={controlPlaneCurl({ path })} aos={`npx aos project show ${project.id}`} />
      </span>
      {!isStill && project.status === 'paused' && (
        <Button look="primary" isBusy={deed.isPending} onClick={() => deed.mutate('resume')}>
          Resume
        </Button>
      )}
      {!isStill && project.status === 'active' && (
        <Button icon="pause" isBusy={deed.isPending} onClick={() => deed.mutate('pause')}>
          Pause
        </Button>
      )}
      {!isStill && (
        <Button look="danger" icon="stop" onClick={() => setAsks(true)}>
          Abandon
        </Button>
      )}
      <Confirm
        title="Abandon this project?"
        action="Abandon it"
        isDangerous
        isOpen={asks}
        onClose={() => setAsks(false)}
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
