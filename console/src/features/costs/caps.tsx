/** Shows the caps on spending by calendar month and day, with what is spent of each; sets, changes and removes them. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { del, get, put } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import type { ApiKey, SpendingCap } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Button } from '../../ui/button.tsx';
import { Change } from '../../ui/change.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Field } from '../../ui/field.tsx';
import { money } from '../../ui/figures.ts';
import { notify } from '../../ui/notice.tsx';
import { RequestForm } from '../../ui/request-form.tsx';
import { Resource, resourceKey } from '../../ui/resource.tsx';
import { Time } from '../../ui/time.tsx';
import { agentsQuery } from '../runs/queries.ts';

const PATH = '/v1/cost/caps';
const SCOPE_NAMES = ['workspace', 'agent', 'api-key'] as const;
type Scope = (typeof SCOPE_NAMES)[number];
const SCOPES: Record<Scope, string> = { workspace: 'The workspace', agent: 'An agent', 'api-key': 'An API key' };
const PERIODS = ['month', 'day'] as const;

const nameOf = ({ scope, of }: Pick<SpendingCap, 'scope' | 'of'>): string =>
  of === null ? SCOPES[scope] : scope === 'agent' ? `The agent ${of}` : `The API key ${of}`;

export function Caps({ id }: { id: string | undefined }) {
  const session = useSession();
  const may = mayChange(session) && session.rights.includes('admin.routes');
  const [isMaking, setMaking] = useState(false);
  return (
    <>
      <Resource<SpendingCap>
        label="Caps"
        path={PATH}
        kinds={['spending', 'run']}
        selected={id}
        search={{ tab: 'caps' }}
        idOf={(row) => row.id}
        columns={[
          { name: 'Of', cell: nameOf },
          { name: 'A', cell: ({ period }) => period },
          { name: 'Spent', cell: (row) => <Burn cap={row} /> },
          { name: 'At most', cell: (row) => money(row.limit_usd), isRight: true },
          { name: 'Begins anew', cell: (row) => <Time at={row.until} />, isRight: true },
        ]}
        pane={(row) => ({
          title: `${nameOf(row)}, a ${row.period}`,
          body: (
            <>
              <Facts
                facts={[
                  ['At most', money(row.limit_usd)],
                  ['Spent', money(row.spent_usd)],
                  ['Reserved', `${money(row.reserved_usd)}, what calls under way may cost`],
                  ['Since', <Time key="since" at={row.since} isAbsolute />],
                  ['Begins anew', <Time key="until" at={row.until} isAbsolute />],
                  ['Told at', row.alert_at.map((percent) => `${percent} %`).join(', ') || 'no threshold'],
                ]}
              />
              {may && (
                <>
                  <Change
                    label="Raise or lower"
                    title={`What ${nameOf(row).toLowerCase()} may spend in a ${row.period}`}
                    schema="NewCap"
                    method="PUT"
                    path={`${PATH}/${row.id}`}
                    start={{ limit_usd: row.limit_usd, alert_at: row.alert_at.join('\n') }}
                    done="Set"
                  />
                  <Acts
                    acts={[
                      {
                        label: 'Remove',
                        asks: {
                          title: 'Remove this cap?',
                          text: 'Nothing stops spending here any more; budgets of projects and runs still do.',
                        },
                        done: 'Removed',
                        act: () => del(`${PATH}/${row.id}`),
                      },
                    ]}
                  />
                </>
              )}
            </>
          ),
        })}
        empty={{
          title: 'Nothing caps spending yet',
          text: 'A cap is asked before each model call: where too little is left, the call is not made.',
          aos: 'npx aos costs cap workspace.month 50',
        }}
        aos="npx aos costs caps"
      >
        {may && (
          <Button icon="plus" look="primary" onClick={() => setMaking(true)}>
            New cap
          </Button>
        )}
      </Resource>
      {isMaking && <NewCapForm onClose={() => setMaking(false)} />}
    </>
  );
}

/** A bar beside its figure; the figure says the same. */
function Burn({ cap }: { cap: SpendingCap }) {
  const percent = Math.round(100 * cap.burn);
  return (
    <span className="tabular flex items-center gap-2">
      <span aria-hidden="true" className="h-2 w-16 overflow-hidden rounded-sm bg-raised max-sm:hidden">
        <span
          className={`block h-full ${percent >= 100 ? 'bg-bad' : 'bg-accent'}`}
          style={{ width: `${Math.min(100, percent)}%` }}
        />
      </span>
      {money(cap.spent_usd)} ({percent} %)
    </span>
  );
}

function NewCapForm({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const agents = useQuery(agentsQuery).data?.map(({ slug }) => ({ value: slug, label: slug })) ?? [];
  const keys = useQuery({
    queryKey: resourceKey('/v1/api-keys'),
    queryFn: ({ signal }) => get<{ data: ApiKey[] }>('/v1/api-keys', undefined, signal),
  });
  const [scope, setScope] = useState<Scope>('workspace');
  const [of, setOf] = useState('');
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>('month');
  const known = keys.data?.data.filter(({ revoked_at: at }) => at === null) ?? [];
  const choices = scope === 'agent' ? agents : known.map((key) => ({ value: String(key.id), label: key.name }));
  const path = `${PATH}/${scope === 'workspace' ? scope : `${scope}.${of}`}.${period}`;
  return (
    <RequestForm
      title="New cap"
      action="Set the cap"
      schema="NewCap"
      request={{ method: 'PUT', path }}
      start={{ alert_at: '50\n80\n100' }}
      onClose={onClose}
      send={async (values) => {
        await put(path, values);
        notify('Set');
        await client.invalidateQueries({ queryKey: ['resources'] });
      }}
    >
      <Field label="Of">
        {(props) => (
          <select
            {...props}
            className="field w-full"
            value={scope}
            onChange={({ target }) => {
              setScope(SCOPE_NAMES.find((each) => each === target.value) ?? 'workspace');
              setOf('');
            }}
          >
            {SCOPE_NAMES.map((value) => (
              <option key={value} value={value}>
                {SCOPES[value]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {scope !== 'workspace' && (
        <Field label={scope === 'agent' ? 'Agent' : 'API key'} isRequired>
          {(props) => (
            <select
              {...props}
              required
              className="field w-full"
              value={of}
              onChange={({ target }) => setOf(target.value)}
            >
              <option value="">Choose</option>
              {choices.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field label="In a calendar" hint="Months and days are those of UTC.">
        {(props) => (
          <select
            {...props}
            className="field w-full"
            value={period}
            onChange={({ target }) => setPeriod(PERIODS.find((each) => each === target.value) ?? 'month')}
          >
            {PERIODS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        )}
      </Field>
    </RequestForm>
  );
}
