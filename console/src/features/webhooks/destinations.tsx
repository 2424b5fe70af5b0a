/** Shows where finished artifacts are also sent: to a webhook, Slack, a mailbox or a bucket. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { del, patch, post } from '../../api/client.ts';
import type { OutputDelivery, OutputDestination } from '../../api/types.ts';
import { ForWriters } from '../../ui/for-writers.tsx';
import { Acts } from '../../ui/acts.tsx';
import { Button } from '../../ui/button.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { duration } from '../../ui/figures.ts';
import { Value } from '../../ui/json.tsx';
import { Resource } from '../../ui/resource.tsx';
import { RequestForm } from '../../ui/request-form.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

const PATH = '/v1/output-destinations';

const stateOf = ({ enabled, paused_at: paused, failing_since: failing }: OutputDestination): string =>
  paused ? 'paused' : !enabled ? 'disabled' : failing ? 'failing' : 'ok';

export function Destinations({ id }: { id: string | undefined }) {
  return (
    <Resource<OutputDestination>
      label="Output destinations"
      path={PATH}
      kinds={['output']}
      selected={id}
      search={{ tab: 'destinations' }}
      idOf={(row) => row.id}
      columns={[
        { name: 'Name', cell: ({ name }) => name },
        { name: 'Kind', cell: ({ kind }) => kind },
        { name: 'State', cell: (row) => <Status status={stateOf(row)} /> },
        { name: 'Workflows', cell: ({ workflow_slugs: slugs }) => slugs?.join(', ') ?? 'all' },
        { name: 'Made', cell: (row) => <Time at={row.created_at} />, isRight: true },
      ]}
      pane={(row) => ({ title: row.name, body: <Destination destination={row} /> })}
      making={{ label: 'New destination', schema: 'NewOutputDestination' }}
      empty={{
        title: 'No destination yet',
        text: 'When a project completes, its artifacts are sent to each of these, once, and again until they are taken.',
        sample: { name: 'Slack', kind: 'slack', config: { webhook_url: 'https://hooks.slack.com/services/...' } },
      }}
    />
  );
}

function Destination({ destination }: { destination: OutputDestination }) {
  const client = useQueryClient();
  const [isChanging, setChanging] = useState(false);
  const path = `${PATH}/${destination.id}`;
  const trial = useMutation({
    mutationFn: () => post<{ delivered: boolean; error: string | null; duration_ms: number }>(`${path}/test`),
  });
  return (
    <>
      <Facts
        facts={[
          ['State', <Status key="state" status={stateOf(destination)} />],
          ['Kind', destination.kind],
          destination.failing_since && ['Fails since', <Time key="failing" at={destination.failing_since} />],
          ...destination.recipients.map(({ email, state }) => [email, state] as const),
        ]}
      />
      <Value value={destination.config} label="the configuration" />
      <ForWriters>
        <div className="space-y-1">
          <Button isBusy={trial.isPending} onClick={() => trial.mutate()}>
            Send a sample
          </Button>
          <Refusal error={trial.error} />
          {trial.data && (
            <p role="status" className={trial.data.delivered ? 'text-good' : 'text-bad'}>
              {trial.data.delivered ? 'It was taken' : `It was not taken: ${trial.data.error ?? 'no reason'}`} (
              {duration(trial.data.duration_ms)})
            </p>
          )}
        </div>
      </ForWriters>
      <Acts
        acts={[
          {
            label: destination.enabled ? 'Switch off' : 'Switch on',
            done: destination.enabled ? 'Switched off' : 'Switched on',
            act: () => patch(path, { enabled: !destination.enabled }),
          },
          {
            label: 'Delete',
            asks: {
              title: `Delete ${destination.name}?`,
              text: 'Its log goes too, and what is queued for it is dropped.',
            },
            done: 'Deleted',
            act: () => del(path),
          },
        ]}
      />
      <ForWriters>
        <Button onClick={() => setChanging(true)}>Change</Button>
      </ForWriters>
      {isChanging && (
        <RequestForm
          title={`Change ${destination.name}`}
          action="Change it"
          schema="OutputDestinationChange"
          request={{ method: 'PATCH', path }}
          before={destination}
          onClose={() => setChanging(false)}
          send={async (values) => {
            await patch(path, values);
            await client.invalidateQueries({ queryKey: ['resources'] });
          }}
        />
      )}
    </>
  );
}

const DELIVERIES = `${PATH}/deliveries`;

export function Outputs({ id }: { id: string | undefined }) {
  return (
    <Resource<OutputDelivery>
      label="What was sent"
      path={DELIVERIES}
      kinds={['output']}
      selected={id}
      search={{ tab: 'outputs' }}
      idOf={(row) => row.id}
      columns={[
        { name: 'Destination', cell: (row) => row.destination },
        { name: 'State', cell: (row) => <Status status={row.status} /> },
        { name: 'Attempts', cell: (row) => row.attempts, isRight: true },
        { name: 'Sent', cell: (row) => <Time at={row.created_at} />, isRight: true },
      ]}
      pane={(row) => ({
        title: `To ${row.destination}`,
        body: (
          <>
            <Facts
              facts={[
                ['State', <Status key="state" status={row.status} />],
                ['Attempts', row.attempts],
                row.project_id !== null && [
                  'Project',
                  <Link
                    key="project"
                    to="/projects/$projectId"
                    params={{ projectId: row.project_id }}
                    className="text-accent underline"
                  >
                    {row.project_id}
                  </Link>,
                ],
                row.wait_id !== null && [
                  'Tells of',
                  <Link
                    key="wait"
                    to="/inbox/$waitId"
                    params={{ waitId: row.wait_id }}
                    className="text-accent underline"
                  >
                    {row.notice}
                  </Link>,
                ],
                row.withheld_from.length > 0 && ['Not sent to', row.withheld_from.join(', ')],
              ]}
            />
            {row.last_error && <p className="break-words text-bad">{row.last_error}</p>}
            <Acts
              acts={[
                {
                  label: 'Send again',
                  icon: 'retry',
                  isHidden: row.status === 'pending',
                  done: 'Queued again',
                  act: () => post(`${DELIVERIES}/${row.id}/redeliver`),
                },
              ]}
            />
          </>
        ),
      })}
      empty={{
        title: 'Nothing was sent yet',
        text: 'Each artifact of a project that completes is sent to each destination.',
      }}
    />
  );
}
