/** Offers to start the first run, from here or from a terminal, where the list of runs is empty. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { post } from '../../api/client.ts';
import { ForWriters } from '../../ui/for-writers.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { publicCurl, quoted } from '../../ui/commands.ts';
import { Command } from '../../ui/copy.tsx';
import { Empty, Refusal } from '../../ui/empty.tsx';
import { FIRST_PROMPT, runBodyOf, samplesQuery } from '../samples/queries.ts';

export function FirstRun() {
  const navigate = useNavigate();
  const samples = useQuery(samplesQuery).data;
  const body = runBodyOf(samples?.prompts.find(({ slug }) => slug === FIRST_PROMPT));
  const start = useMutation({
    mutationFn: () => post<{ run_id: string }>('/v1/runs', body),
    onSuccess: ({ run_id: runId }) => void navigate({ to: '/runs/$runId', params: { runId } }),
  });
  return (
    <Empty
      title="No runs yet"
      action={
        <div className="flex flex-wrap justify-center gap-2">
          <ForWriters>
            <Button look="primary" isBusy={start.isPending} disabled={!samples} onClick={() => start.mutate()}>
              Start this run
            </Button>
          </ForWriters>
          <Link to="/welcome" className={buttonClass()}>
            The first five minutes
          </Link>
        </div>
      }
      commands={
        <>
          <Command label="curl command" text={publicCurl({ method: 'POST', path: '/v1/runs', body })} />
          <Command label="aos command" text={`npx aos run ${body.agent} ${quoted(body.prompt)} --follow`} />
        </>
      }
    >
      <p>
        A run takes a prompt, works through turns of a model and the tools it calls, and leaves a timeline, an answer
        and a cost.
      </p>
      <Refusal error={start.error} />
    </Empty>
  );
}
