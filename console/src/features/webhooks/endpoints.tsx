/** Shows the addresses that events are posted to, and how the deliveries to each fare. */
import { useState } from 'react';
import { del, post } from '../../api/client.ts';
import type { NewWebhook, WebhookEndpoint } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { Deliveries } from './deliveries.tsx';
import { Verifier } from './verifier.tsx';

const PATH = '/v1/webhook-deliveries/endpoints';

const stateOf = ({ active, paused_at: paused, failing_since: failing }: WebhookEndpoint): string =>
  paused ? 'paused' : !active ? 'disabled' : failing ? 'failing' : 'ok';

export function Endpoints({ id }: { id: string | undefined }) {
  return (
    <Resource<WebhookEndpoint, NewWebhook>
      label="Webhook endpoints"
      path={PATH}
      kinds={['delivery']}
      selected={id}
      idOf={(row) => String(row.id)}
      columns={[
        { name: 'URL', cell: ({ url }) => url },
        { name: 'State', cell: (row) => <Status status={stateOf(row)} /> },
        { name: 'Events', cell: ({ events }) => (events.includes('*') ? 'all' : events.join(', ')) },
        { name: 'Made', cell: (row) => <Time at={row.created_at} />, isRight: true },
      ]}
      pane={(row) => ({ title: row.url, body: <Endpoint endpoint={row} /> })}
      making={{
        label: 'New endpoint',
        schema: 'NewWebhookEndpoint',
        path: PATH,
        secretOf: ({ url, secret }) => ({
          title: 'The signing secret',
          secret,
          children: `Each request to ${url} is signed with it. It is shown this once.`,
        }),
      }}
      empty={{
        title: 'No endpoint yet',
        text: 'Events of runs and projects are posted to an address of yours, signed, and again until it takes them.',
        sample: { url: 'https://example.com/hook', events: ['run.succeeded', 'run.failed'] },
      }}
    />
  );
}

function Endpoint({ endpoint }: { endpoint: WebhookEndpoint }) {
  const [secret, setSecret] = useState<string>();
  const path = `${PATH}/${endpoint.id}`;
  return (
    <>
      <Facts
        facts={[
          ['State', <Status key="state" status={stateOf(endpoint)} />],
          ['Events', endpoint.events.join(', ')],
          endpoint.description && ['Description', endpoint.description],
          endpoint.failing_since && ['Fails since', <Time key="failing" at={endpoint.failing_since} />],
          endpoint.paused_at && ['Paused', <Time key="paused" at={endpoint.paused_at} />],
        ]}
      />
      <Acts
        acts={[
          {
            label: 'Switch on',
            isHidden: endpoint.active,
            done: 'Switched on',
            act: () => post(`${path}/resume`),
          },
          {
            label: 'Rotate the secret',
            icon: 'retry',
            done: 'The old secret signs along for 24 hours',
            act: async () => setSecret((await post<{ secret: string }>(`${path}/rotate-secret`)).secret),
          },
          {
            label: 'Delete',
            asks: {
              title: 'Delete this endpoint?',
              text: 'Deliveries that are queued for it are dropped, its log goes too.',
            },
            done: 'Deleted',
            act: () => del(path),
          },
        ]}
      />
      <Verifier />
      <h3 className="font-medium">Deliveries</h3>
      <Deliveries endpoint={endpoint.id} />
      {secret && (
        <Secret title="The new signing secret" secret={secret} onClose={() => setSecret(undefined)}>
          The one before signs along for 24 hours. It is shown this once.
        </Secret>
      )}
    </>
  );
}
