/**
 * Shows the credentials of other services, such as models and tools. A value is never shown again, only that it is set
 * and whether it works.
 */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { del, get, put } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import type { Integration, IntegrationDetail, IntegrationSlot } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Command } from '../../ui/copy.tsx';
import { Problem, Refusal, Skeleton } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Field } from '../../ui/field.tsx';
import { notify } from '../../ui/notice.tsx';
import { Resource, resourceKey } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

const PATH = '/v1/integrations';

export const Integrations = ({ id }: { id: string | undefined }) => (
  <Resource<Integration>
    label="Integrations"
    path={PATH}
    kinds={['integration']}
    selected={id}
    search={{ tab: 'integrations' }}
    idOf={(row) => row.slug}
    columns={[
      { name: 'Integration', cell: ({ name }) => name },
      { name: 'State', cell: ({ status }) => <Status status={status} /> },
      {
        name: 'For',
        cell: ({ description, extras }) => (extras.includes('models') ? `Models. ${description}` : description),
      },
      {
        name: 'Set',
        cell: (row) => `${row.credentials_set} of ${row.credentials_total}`,
        isRight: true,
      },
    ]}
    pane={(row) => ({ title: row.name, body: <Detail slug={row.slug} /> })}
    empty={{ title: 'No integrations', text: 'This deployment has none.' }}
    aos="npx aos integrations"
  />
);

function Detail({ slug }: { slug: string }) {
  const client = useQueryClient();
  const path = `${PATH}/${slug}`;
  const { data, error } = useQuery({
    queryKey: resourceKey(path),
    queryFn: ({ signal }) => get<IntegrationDetail>(path, undefined, signal),
    staleTime: 1_000,
  });
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['resources'] }),
      client.invalidateQueries({ queryKey: ['session'] }),
    ]);
  if (error) return <Problem error={error} />;
  if (!data) return <Skeleton rows={4} />;
  return (
    <>
      <p>{data.description}</p>
      {data.credentials.map((slot) => (
        <Slot key={addressOf(slot)} path={path} slot={slot} refresh={refresh} slug={slug} />
      ))}
      {data.tokens.map((token) => (
        <Facts
          key={token.token_id}
          facts={[
            [`${token.kind}, ${token.scope}`, <Status key="health" status={token.health_status} />],
            ['Asked about', token.checked_at ? <Time key="at" at={token.checked_at} /> : 'not yet'],
          ]}
        />
      ))}
      {data.config.length > 0 && (
        <Facts
          facts={data.config.map(({ key, value, source }) => [key, value ?? `chosen by the ${source}`] as const)}
        />
      )}
    </>
  );
}

const addressOf = (slot: IntegrationSlot): string =>
  slot.where === 'secrets' ? `secrets/${slot.dotted}` : `credentials/${slot.kind}`;

interface SlotProps {
  path: string;
  slug: string;
  slot: IntegrationSlot;
  refresh: () => Promise<unknown>;
}

function Slot({ path, slug, slot, refresh }: SlotProps) {
  const may = mayChange(useSession());
  const [value, setValue] = useState('');
  const address = `${path}/${addressOf(slot)}`;
  const change = useMutation({
    mutationFn: (given: string | undefined) =>
      given === undefined ? del(address) : put<unknown>(address, { value: given }),
    onSuccess: (_done, given) => {
      setValue('');
      notify(given === undefined ? 'Taken away' : 'Set. Whether it works is asked in the background.');
      return refresh();
    },
  });
  if (!may) return <Facts facts={[[slot.label, slot.is_set ? 'set' : 'not set']]} />;
  if (slot.where === 'oauth_files') {
    return (
      <p className="text-sm text-soft">
        {slot.label}: {slot.account_count} accounts
      </p>
    );
  }
  return (
    <form
      className="card space-y-2 p-3"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(value.trim());
      }}
    >
      <Field
        label={slot.label}
        isRequired={slot.required}
        hint={slot.is_set ? 'It is set. A new value takes its place.' : 'Kept encrypted; no answer shows it again.'}
      >
        {(props) => (
          <input
            {...props}
            type="password"
            autoComplete="off"
            required
            className="field w-full"
            placeholder={slot.is_set ? '••••••••' : ''}
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        )}
      </Field>
      <Refusal error={change.error} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" isBusy={change.isPending} disabled={value.trim() === ''}>
          {slot.is_set ? 'Replace' : 'Set'}
        </Button>
        {slot.is_set && (
          <Button look="danger" isBusy={change.isPending} onClick={() => change.mutate(undefined)}>
            Take away
          </Button>
        )}
      </div>
      <Command
        label="aos command"
        text={`npx aos integrations set ${slug} ${slot.where === 'secrets' ? slot.dotted : slot.kind}`}
      />
    </form>
  );
}
