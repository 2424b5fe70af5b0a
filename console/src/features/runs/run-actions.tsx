/** Offers what can be done with a run, and the same as commands for a terminal. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { mayChange, temporalUrl, useSession } from '../../api/session.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { controlPlaneCurl } from '../../ui/commands.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { CopyAs } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Money } from '../../ui/money.tsx';
import { notify, notifyProblem } from '../../ui/notice.tsx';
import { isInFlight, type ShownRun } from './types.ts';

export function RunActions({ run }: { run: ShownRun }) {
  const session = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asks, setAsks] = useState(false);
  const path = `/v1/runs/${run.run_id}`;
  const retry = useMutation({
    mutationFn: () => post<{ run_id: string }>(`${path}/retry`),
    onSuccess: ({ run_id: runId }) => {
      notify('Started again as a new run');
      void navigate({ to: '/runs/$runId', params: { runId } });
    },
    onError: notifyProblem,
  });
  const engine = temporalUrl(session, `run-${run.run_id}`);
  return (
    <>
      {engine && (
        <a href={engine} target="_blank" rel="noreferrer" className={buttonClass('ghost', 'max-sm:hidden')}>
          <Icon name="external" /> Open in Temporal
        </a>
      )}
      <span className="max-sm:hidden">
        <CopyAs curl={controlPlaneCurl({ path: `${path}/summary` })} aos={`npx aos runs show ${run.run_id}`} />
      </span>
      {isInFlight(run.status) ? (
        <Button look="danger" icon="stop" disabled={!mayChange(session)} onClick={() => setAsks(true)}>
          Cancel
        </Button>
      ) : (
        <Button
          icon="retry"
          disabled={!run.can_retry || !mayChange(session)}
          title={run.can_retry ? 'A new run with the same prompt, agent and budget' : 'Its detail has aged out'}
          isBusy={retry.isPending}
          onClick={() => retry.mutate()}
        >
          Run again
        </Button>
      )}
      <Confirm
        title="Cancel this run?"
        action="Cancel the run"
        isDangerous
        isOpen={asks}
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await post(`${path}/cancel`);
          await client.invalidateQueries({ queryKey: ['runs'] });
          notify('The run was cancelled');
        }}
      >
        <p>
          What it is doing is stopped, and so are the runs that it started. It has spent{' '}
          <Money usd={run.cost_usd} isPriced={run.is_priced} />, which stays spent; what is held for the call under way
          is given back. It cannot be continued, only run again from its beginning.
        </p>
      </Confirm>
    </>
  );
}
