/** Shows the plan of the workspace, its credit, and the entries that changed the credit. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { get, post } from '../../api/client.ts';
import type {
  BillingAddons,
  BillingCatalog,
  BillingSubscribeResponse,
  BillingSummary,
  BillingTopupOptionsResponse,
  BillingTopupResponse,
  BillingWalletResponse,
  SystemInfo,
} from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Problem, Refusal, Skeleton } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { count, money } from '../../ui/figures.ts';
import { ForWriters } from '../../ui/for-writers.tsx';
import { notify } from '../../ui/notice.tsx';
import { resourceKey } from '../../ui/resource.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const useBilling = <T,>(path: string) =>
  useQuery({ queryKey: resourceKey(path), queryFn: ({ signal }) => get<T>(path, undefined, signal) });
const micros = (n: number): string => money(n / 1_000_000);

export function Billing() {
  const client = useQueryClient();
  const summary = useBilling<BillingSummary>('/v1/billing/summary');
  const catalog = useBilling<BillingCatalog>('/v1/billing/catalog');
  const wallet = useBilling<BillingWalletResponse>('/v1/billing/wallet');
  const options = useBilling<BillingTopupOptionsResponse>('/v1/billing/topup/options');
  const addons = useBilling<BillingAddons>('/v1/billing/addons');
  const info = useBilling<SystemInfo>('/v1/system/info');
  const [amount, setAmount] = useState('');
  /** Goes to the payment page. Where this deployment takes no payments, it says so. */
  const after = (answer: BillingTopupResponse | BillingSubscribeResponse) => {
    if ('checkout_url' in answer) location.assign(answer.checkout_url);
    else notify('message' in answer ? answer.message : 'Done');
  };
  const topup = useMutation({
    mutationFn: () =>
      post<BillingTopupResponse>('/v1/billing/topup', {
        amount_usd_cents: Math.round(Number(amount) * 100),
        return_path: '/console/workspace?tab=billing',
      }),
    onSuccess: after,
  });
  const subscribe = useMutation({
    mutationFn: (plan: string) => post<BillingSubscribeResponse>('/v1/billing/subscribe', { billing_plan_id: plan }),
    onSuccess: after,
  });
  const router = useMutation({
    mutationFn: (enabled: boolean) => post('/v1/billing/addons/model-router', { enabled }),
    onSettled: () => void client.invalidateQueries({ queryKey: ['resources'] }),
  });
  const error = summary.error ?? wallet.error ?? catalog.error;
  if (error) return <Problem error={error} />;
  if (!summary.data || !wallet.data || !catalog.data) return <Skeleton />;
  return (
    <div className="grid content-start gap-4 p-4 lg:grid-cols-2">
      <section aria-label="Plan" className="card space-y-3 p-4">
        <h2 className="font-semibold">Plan</h2>
        <Facts
          facts={[
            ['Tier', summary.data.current_tier],
            [
              'Period',
              <span key="period">
                <Time at={summary.data.current_period.start} isAbsolute /> to{' '}
                <Time at={summary.data.current_period.end} isAbsolute />
              </span>,
            ],
            ...Object.entries(info.data?.plan.caps ?? {}).map(
              ([name, cap]) =>
                [name.replaceAll('_', ' '), cap === null ? 'unlimited' : `at most ${count(cap)}`] as const,
            ),
          ]}
        />
        {summary.data.note && <p className="text-sm text-soft">{summary.data.note}</p>}
        <ul className="space-y-2">
          {catalog.data.tiers.map((tier) => (
            <li key={tier.key} className="flex flex-wrap items-center gap-x-3 border-t pt-2 text-sm">
              <span className="font-medium">{tier.name}</span>
              <span className="min-w-0 flex-1 text-soft">{tier.tagline}</span>
              <span className="tabular">
                {tier.monthly_usd_cents === null
                  ? tier.contact_only
                    ? 'by contact'
                    : ''
                  : `${money(tier.monthly_usd_cents / 100)} a month`}
              </span>
              {tier.billing_plan_id && tier.key !== summary.data.current_tier && (
                <ForWriters>
                  <Button isBusy={subscribe.isPending} onClick={() => subscribe.mutate(tier.billing_plan_id!)}>
                    Switch to {tier.name}
                  </Button>
                </ForWriters>
              )}
            </li>
          ))}
        </ul>
        <Refusal error={subscribe.error} />
      </section>
      <section aria-label="Credit" className="card space-y-3 p-4">
        <h2 className="font-semibold">Credit</h2>
        <p className="tabular text-xl font-semibold">{micros(wallet.data.balance_usd_micros)}</p>
        <ForWriters>
          <form
            className="flex flex-wrap items-end gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              topup.mutate();
            }}
          >
            <label className="space-y-1">
              <span className="block font-medium">Buy, US dollars</span>
              <input
                required
                inputMode="decimal"
                list="presets"
                pattern="\d{1,7}(\.\d{1,2})?"
                title="An amount such as 25"
                className="field tabular w-32"
                value={amount}
                onChange={({ target }) => setAmount(target.value)}
              />
            </label>
            <datalist id="presets">
              {options.data?.presets_usd_cents.map((cents) => (
                <option key={cents} value={cents / 100} />
              ))}
            </datalist>
            <Button type="submit" look="primary" isBusy={topup.isPending}>
              Top up
            </Button>
          </form>
          <Refusal error={topup.error} />
          {addons.data && (
            <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
              <input
                type="checkbox"
                checked={addons.data.model_router.managed}
                disabled={router.isPending}
                onChange={({ target }) => router.mutate(target.checked)}
              />
              Managed model router: a key that may spend the credit, where the workspace has none of its own
            </label>
          )}
          <Refusal error={router.error} />
        </ForWriters>
      </section>
      <section aria-label="Ledger" className="card min-w-0 overflow-x-auto lg:col-span-2">
        <h2 className="px-4 pt-3 font-semibold">Ledger</h2>
        {wallet.data.data.length === 0 ? (
          <p className="p-4 text-soft">Nothing has moved the credit yet.</p>
        ) : (
          <Table
            label="Ledger"
            rows={wallet.data.data}
            idOf={(row) => String(row.id)}
            columns={[
              { name: 'What', cell: ({ kind }) => kind.replaceAll('_', ' ') },
              { name: 'When', cell: (row) => <Time at={row.created_at} isAbsolute /> },
              { name: 'Change', cell: (row) => micros(row.delta_usd_micros), isRight: true },
              { name: 'Balance after', cell: (row) => micros(row.balance_after_usd_micros), isRight: true },
            ]}
          />
        )}
      </section>
    </div>
  );
}
