/** Shows who operates the deployment its customers: what each uses and spends, how it stands, and what was noted. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { addressOf, del, post } from '../../api/client.ts';
import type { CrmAdminNotesResponse, CrmCustomer, CustomersListResponse } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Button } from '../../ui/button.tsx';
import { Change } from '../../ui/change.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ForWriters } from '../../ui/for-writers.tsx';
import { NoteField } from '../../ui/field.tsx';
import { count, money } from '../../ui/figures.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

const PATH = '/v1/crm-admin/customers';
const SHOWN = 200;

export const Customers = ({ id }: { id: string | undefined }) => (
  <Resource<CrmCustomer>
    label="Customers"
    path={addressOf(PATH, { limit: SHOWN })}
    selected={id}
    search={{ tab: 'customers' }}
    idOf={(row) => row.customer_id}
    columns={[
      { name: 'Customer', cell: (row) => row.identity_workspace_id },
      { name: 'Stands', cell: (row) => row.status?.replaceAll('_', ' ') ?? 'not said' },
      { name: 'Plan', cell: (row) => row.plan },
      { name: 'Workspace', cell: (row) => <Status status={row.workspace_status} /> },
      { name: 'Notes', cell: (row) => row.note_count, isRight: true },
    ]}
    pane={(row) => ({
      title: row.identity_workspace_id,
      body: (
        <>
          <Loaded<CrmCustomer> path={`${PATH}/${row.customer_id}`}>
            {(customer) => <Stands customer={customer} />}
          </Loaded>
          <Usage customer={row} />
          <Notes path={`${PATH}/${row.customer_id}/notes`} />
        </>
      ),
    })}
    empty={{ title: 'No customer yet', text: 'Each workspace is one.' }}
  />
);

const Stands = ({ customer }: { customer: CrmCustomer }) => (
  <>
    <Facts
      facts={[
        ['Stands', customer.status?.replaceAll('_', ' ') ?? 'not said'],
        customer.updated_by && ['Said by', customer.updated_by],
        ['Since', <Time key="since" at={customer.created_at} isAbsolute />],
      ]}
    />
    <Change
      label="Say how it stands"
      title={`How ${customer.identity_workspace_id} stands`}
      schema="CrmCustomerChange"
      path={`${PATH}/${customer.customer_id}`}
      before={customer}
      done="Noted"
    />
  </>
);

/** The list is of every customer; this one is found in it by its own id. */
const Usage = ({ customer }: { customer: CrmCustomer }) => (
  <Loaded<CustomersListResponse> path={addressOf('/v1/customers', { q: customer.identity_workspace_id, limit: SHOWN })}>
    {({ data }) => {
      const found = data.find(({ customer_id: id }) => id === customer.customer_id);
      if (!found) return null;
      const { usage, spend } = found;
      return (
        <Facts
          facts={[
            ['Members', found.member_count],
            ['Runs today', usage.runs_today.current],
            ['Runs in 30 days', count(usage.runs_30d)],
            ['Spent in 30 days', money(spend.cost_30d_usd)],
            ['Credit', money(spend.wallet_balance_usd_micros / 1_000_000)],
            ['Last active', found.last_activity_at ? <Time key="at" at={found.last_activity_at} /> : 'never'],
          ]}
        />
      );
    }}
  </Loaded>
);

function Notes({ path }: { path: string }) {
  const client = useQueryClient();
  const [text, setText] = useState('');
  const noting = useMutation({
    mutationFn: () => post(path, { text: text.trim() }),
    onSuccess() {
      setText('');
      return client.invalidateQueries({ queryKey: ['resources'] });
    },
  });
  return (
    <section aria-label="Notes" className="space-y-3">
      <ForWriters>
        <form
          className="space-y-2"
          onSubmit={(event) => {
            event.preventDefault();
            noting.mutate();
          }}
        >
          <NoteField label="Note" value={text} onChange={setText} />
          <Refusal error={noting.error} />
          <Button type="submit" isBusy={noting.isPending} disabled={text.trim() === ''}>
            Note it
          </Button>
        </form>
      </ForWriters>
      <Loaded<CrmAdminNotesResponse> path={addressOf(path, { limit: SHOWN })}>
        {({ data }) => (
          <ul aria-label="What was noted" className="space-y-3">
            {data.map((note) => (
              <li key={note.id} className="space-y-1 border-l-2 pl-2">
                <p className="break-words whitespace-pre-wrap">{note.text}</p>
                <p className="text-xs text-soft">
                  {note.author}, <Time at={note.created_at} />
                </p>
                <Acts acts={[{ label: 'Delete note', done: 'Deleted', act: () => del(`${path}/${note.id}`) }]} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}
