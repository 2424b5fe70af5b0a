/** Declares `aos costs`, which shows and caps what runs cost, and `aos billing`: what is sold, and the wallet. */
import { InvalidArgumentError } from 'commander';
import { Decimal } from 'decimal.js';
import {
  getAddons,
  getCatalog,
  getSummary,
  getWallet,
  setModelRouter,
  subscribe,
  topup,
} from '../../resources/billing/contract.ts';
import { USD_MICROS } from '../../resources/billing/model.ts';
import { listCaps, removeCap, setCap } from '../../resources/cost/caps/contract.ts';
import { forecastCost, getCostRollup } from '../../resources/cost/contract.ts';
import { command, group, list, table, type ReplyOf } from '../commands.ts';
import { oneLine, paint, print } from '../output.ts';
import { formatCost, formatUsd } from '../timeline.ts';

function sayForecast({ month, spent_usd, p50_usd, p90_usd, based_on }: ReplyOf<typeof forecastCost>): string {
  const forecast =
    p50_usd === null || p90_usd === null
      ? [`no forecast: it takes 7 whole days, and there are ${based_on.days}`]
      : [
          `by its end about ${formatUsd(p50_usd)}, in nine of ten cases no more than ${formatUsd(p90_usd)}`,
          `from ${based_on.days} days, by weekday; on ${based_on.days_with_spend} of them something was spent`,
        ];
  const unpriced = `${based_on.unpriced_runs} runs had calls without a known price: it is more than that`;
  return [
    `${month}: ${formatCost(spent_usd, based_on.unpriced_runs === 0)} spent`,
    ...forecast,
    ...(based_on.unpriced_runs > 0 ? [unpriced] : []),
  ].join('\n');
}

function sayRollup(rollup: ReplyOf<typeof getCostRollup>): void {
  const { total_cost_usd, saved_usd, run_count, window, group_by } = rollup.meta;
  table(rollup.data, {
    columns: `${group_by.toUpperCase()} key, USD>, SAVED> saved_usd, RUNS> run_count, TOKENS IN> input_tokens, TOKENS OUT> output_tokens`,
    cells: {
      USD: ({ cost_usd, unpriced_runs }) =>
        unpriced_runs > 0 ? (Number(cost_usd) === 0 ? 'unpriced' : `>= ${cost_usd}`) : cost_usd,
    },
    empty: `no runs within ${window}`,
  });
  const unpriced = rollup.data.some(({ unpriced_runs }) => unpriced_runs > 0);
  if (run_count > 0)
    print(`\n${unpriced ? 'at least ' : ''}${total_cost_usd} USD for ${run_count} runs within ${window}`);
  if (Number(saved_usd) > 0) print(`${saved_usd} USD saved by the providers' caches`);
}

export const costs = group('costs', 'what runs cost, and caps on what they may', [
  command('summary', getCostRollup, {
    about: 'what runs cost, by agent, model, project or day',
    isDefault: true,
    flags: {
      window: '-w, --window <window> = 7d | how far back',
      group_by: '-b, --by <group> = agent | added up by',
    },
    say: sayRollup,
  }),
  list('caps', listCaps, {
    about: 'what may be spent by calendar month and day, and what is',
    columns: 'CAP id, SPENT> spent_usd, OF USD> limit_usd, %>, TELLS AT %, UNTIL until',
    cells: {
      '%': ({ burn }) => Math.round(burn * 100),
      'TELLS AT %': ({ alert_at }) => alert_at.join(',') || 'never',
    },
    empty: 'no caps; set one with: aos costs cap workspace.month 100',
  }),
  command('forecast', forecastCost, { about: 'what this month may come to', say: sayForecast }),
  command('cap <cap> <usd>', setCap, {
    about: 'cap what a workspace, an agent or an API key spends',
    words: {
      cap: 'workspace, agent.<slug> or api-key.<id>, and .month or .day: agent.writer.month',
      usd: 'US dollars, or `none`',
    },
    flags: {
      alert_at: '--alert <percents> | tell owners and destinations where so much is spent: 50,80,100, or `none`',
    },
    choose: ({ usd }) => (usd === 'none' ? { endpoint: removeCap, fields: {} } : {}),
    fields: ({ usd, alert_at }) => ({ limit_usd: usd, alert_at }),
    json: (cap, { cap: id }) => cap ?? { id, deleted: true },
    say: (set, { cap }) =>
      set ? `${set.id}: ${set.spent_usd} of ${set.limit_usd} USD spent, until ${set.until}` : `${cap} is taken away`,
  }),
]);

const dollars = (micros: number): string =>
  `${micros < 0 ? '-' : ''}$${new Decimal(micros).abs().div(USD_MICROS).toFixed()}`;
const price = (cents: number | null, isAsked: boolean): string | null =>
  isAsked ? 'ask us' : cents === null ? null : (cents / 100).toLocaleString('en-US');

/** Reads an amount in dollars, such as `25` or `25.50`. */
function parseCents(text: string): number {
  if (/^\d{1,7}(\.\d{1,2})?$/.test(text)) return new Decimal(text).times(100).toNumber();
  throw new InvalidArgumentError('expects dollars, such as 25 or 25.50');
}
const currency = "-c, --currency <currency> | by default that of the service's country";

export const billing = group(
  'billing',
  'plans, credit and add-ons of the workspace',
  [
    command('catalog', getCatalog, {
      about: 'tiers and prices',
      say(reply) {
        table(reply.tiers, {
          columns: 'TIER key, PLAN ID billing_plan_id, USD/MONTH>, IDR/MONTH>, CAPS',
          cells: {
            'USD/MONTH': (row) => price(row.monthly_usd_cents, row.contact_only),
            'IDR/MONTH': (row) => price(row.monthly_idr_cents, row.contact_only),
            CAPS: (row) => row.caps.join(', '),
          },
          empty: 'nothing is sold',
        });
        if (reply.error) print(paint('yellow', `\nprices are not known: ${oneLine(reply.error)}`));
      },
    }),
    command('summary', getSummary, {
      about: 'what the workspace is on',
      isDefault: true,
      say: ({ mode, current_tier: tier, current_plan_id: plan, note }) =>
        `mode   ${mode}\ntier   ${tier}\nplan   ${plan ?? '-'}${note ? `\n${note}` : ''}`,
    }),
    command('wallet', getWallet, {
      about: 'balance and what moved it, newest first',
      flags: { limit: '-n, --limit <count> = 20 | rows' },
      say(reply) {
        print(`balance ${paint('bold', dollars(reply.balance_usd_micros))}\n`);
        table(reply.data, {
          columns: 'WHEN (UTC) created_at, KIND kind, USD>, BALANCE>',
          cells: {
            USD: (row) => dollars(row.delta_usd_micros),
            BALANCE: (row) => dollars(row.balance_after_usd_micros),
          },
          empty: 'nothing was bought or charged',
        });
      },
    }),
    command('topup <dollars>', topup, {
      about: 'buy credit: prints the address of a payment page',
      words: { dollars: 'such as 25 or 25.50' },
      parse: { dollars: parseCents },
      flags: { currency },
      fields: ({ dollars: cents, currency: of }) => ({ amount_usd_cents: cents, currency: of }),
      say: (reply) =>
        'noop' in reply ? reply.message : `pay here; the credit lands afterwards:\n${reply.checkout_url}`,
    }),
    command('subscribe <plan-id>', subscribe, {
      about: 'subscribe to a plan of the catalog, or switch to it',
      flags: { currency },
      fields: ({ 'plan-id': id, currency: of }) => ({ billing_plan_id: id, currency: of }),
      say(reply) {
        if ('noop' in reply) return reply.message;
        if (reply.ok) return `the subscription is ${reply.change}: ${reply.plan_id}`;
        return `leave a payment method here, then run this again:\n${reply.checkout_url}`;
      },
    }),
    command('addons', getAddons, {
      about: 'add-ons, and switching them',
      flags: { router: '--model-router <on|off> | the managed model router' },
      choose: ({ router }) => (router ? { endpoint: setModelRouter, fields: { enabled: router } } : { fields: {} }),
      say({ deployment_status, model_router: { managed, key_hash, key_limit_usd }, model_vendor }) {
        const router = managed ? `on, key ${key_hash?.slice(0, 12)} up to $${key_limit_usd}` : 'off';
        return [
          `workspace      ${deployment_status ?? 'not created'}`,
          `model router   ${router}`,
          `model vendor   ${model_vendor.kind ?? 'none of its own'}`,
        ].join('\n');
      },
    }),
  ],
  `Examples:
  aos billing catalog
  aos billing topup 25 --currency USD
  aos billing subscribe plan_starter
  aos billing addons --model-router on`,
);
