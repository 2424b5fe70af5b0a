/** Adds `aos billing`, which shows what is sold, what the workspace has, and its wallet. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { Decimal } from 'decimal.js';
import type {
  BillingAddons,
  BillingCatalog,
  BillingSubscribeResponse,
  BillingSummary,
  BillingTier,
  BillingTopupResponse,
  BillingWalletResponse,
  WalletLedgerRow,
} from '../../client/src/api.ts';
import { CURRENCIES, USD_MICROS } from '../resources/billing/model.ts';
import { openService } from './client.ts';
import { oneLine, paint, print, printJson, printTable, shortTime } from './output.ts';

interface Output {
  json?: boolean;
}

const EXAMPLES = `
Examples:
  aos billing catalog
  aos billing topup 25 --currency USD
  aos billing subscribe plan_starter
  aos billing addons --model-router on`;

export function addBillingCommands(program: Command): void {
  const billing = program
    .command('billing')
    .description('plans, credit and add-ons of the workspace')
    .addHelpText('after', EXAMPLES);
  const json = (command: Command) => command.option('--json', 'print JSON');
  const currency = (command: Command) =>
    json(command).addOption(
      new Option('-c, --currency <currency>', "by default that of the service's country").choices(CURRENCIES),
    );
  json(billing.command('catalog')).description('tiers and prices').action(catalog);
  json(billing.command('summary', { isDefault: true }))
    .description('what the workspace is on')
    .action(summary);
  json(billing.command('wallet'))
    .description('balance and what moved it, newest first')
    .option('-n, --limit <count>', 'rows', '20')
    .action(wallet);
  currency(billing.command('topup'))
    .argument('<dollars>', 'such as 25 or 25.50', parseCents)
    .description('buy credit: prints the address of a payment page')
    .action(topup);
  currency(billing.command('subscribe <plan-id>'))
    .description('subscribe to a plan of the catalog, or switch to it')
    .action(subscribe);
  json(billing.command('addons'))
    .description('add-ons, and switching them')
    .addOption(new Option('--model-router <state>', 'the managed model router').choices(['on', 'off']))
    .action(addons);
}

interface Purchase extends Output {
  currency?: string;
}

const dollars = (micros: number): string =>
  `${micros < 0 ? '-' : ''}$${new Decimal(micros).abs().div(USD_MICROS).toFixed()}`;
const price = (cents: number | null): string | null => (cents === null ? null : (cents / 100).toLocaleString('en-US'));

/** Reads an amount in dollars, such as `25` or `25.50`. */
function parseCents(text: string): number {
  if (/^\d{1,7}(\.\d{1,2})?$/.test(text)) return new Decimal(text).times(100).toNumber();
  throw new InvalidArgumentError('expects dollars, such as 25 or 25.50');
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  return (await openService(process.env)).controlPlane<T>(method, `/v1/billing/${path}`, body);
}

async function catalog({ json }: Output): Promise<void> {
  const reply = await ask<BillingCatalog>('GET', 'catalog');
  if (json) return printJson(reply);
  printTable<BillingTier>(
    reply.tiers,
    [
      { title: 'TIER', value: (row) => row.key },
      { title: 'PLAN ID', value: (row) => row.billing_plan_id },
      {
        title: 'USD/MONTH',
        value: (row) => (row.contact_only ? 'ask us' : price(row.monthly_usd_cents)),
        align: 'right',
      },
      {
        title: 'IDR/MONTH',
        value: (row) => (row.contact_only ? 'ask us' : price(row.monthly_idr_cents)),
        align: 'right',
      },
      { title: 'CAPS', value: (row) => row.caps.join(', ') },
    ],
    'nothing is sold',
  );
  if (reply.error) print(paint('yellow', `\nprices are not known: ${oneLine(reply.error)}`));
}

async function summary({ json }: Output): Promise<void> {
  const reply = await ask<BillingSummary>('GET', 'summary');
  if (json) return printJson(reply);
  const { mode, current_tier: tier, current_plan_id: plan, note } = reply;
  print(`mode   ${mode}\ntier   ${tier}\nplan   ${plan ?? '-'}${note ? `\n${note}` : ''}`);
}

async function wallet({ json, limit }: Output & { limit: string }): Promise<void> {
  const reply = await ask<BillingWalletResponse>('GET', `wallet?limit=${encodeURIComponent(limit)}`);
  if (json) return printJson(reply);
  print(`balance ${paint('bold', dollars(reply.balance_usd_micros))}\n`);
  printTable<WalletLedgerRow>(
    reply.data,
    [
      { title: 'WHEN (UTC)', value: (row) => shortTime(row.created_at) },
      { title: 'KIND', value: (row) => row.kind },
      { title: 'USD', value: (row) => dollars(row.delta_usd_micros), align: 'right' },
      { title: 'BALANCE', value: (row) => dollars(row.balance_after_usd_micros), align: 'right' },
    ],
    'nothing was bought or charged',
  );
}

async function topup(cents: number, { json, currency }: Purchase): Promise<void> {
  const reply = await ask<BillingTopupResponse>('POST', 'topup', {
    amount_usd_cents: cents,
    currency,
  });
  if (json) return printJson(reply);
  print('noop' in reply ? reply.message : `pay here; the credit lands afterwards:\n${reply.checkout_url}`);
}

async function subscribe(planId: string, { json, currency }: Purchase): Promise<void> {
  const reply = await ask<BillingSubscribeResponse>('POST', 'subscribe', { billing_plan_id: planId, currency });
  if (json) return printJson(reply);
  if ('noop' in reply) print(reply.message);
  else if (reply.ok) print(`the subscription is ${reply.change}: ${reply.plan_id}`);
  else print(`leave a payment method here, then run this again:\n${reply.checkout_url}`);
}

async function addons({ json, modelRouter }: Output & { modelRouter?: 'on' | 'off' }): Promise<void> {
  const reply = modelRouter
    ? await ask<BillingAddons>('POST', 'addons/model-router', { enabled: modelRouter === 'on' })
    : await ask<BillingAddons>('GET', 'addons');
  if (json) return printJson(reply);
  const { managed, key_hash: hash, key_limit_usd: limit } = reply.model_router;
  print(`workspace      ${reply.deployment_status ?? 'not created'}`);
  print(`model router   ${managed ? `on, key ${hash?.slice(0, 12)} up to $${limit}` : 'off'}`);
  print(`model vendor   ${reply.model_vendor.kind ?? 'none of its own'}`);
}
