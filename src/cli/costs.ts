/** Adds `aos costs`, which shows what the runs of a period cost, and caps that. */
import { Option, type Command } from 'commander';
import type { CostForecastResponse, CostOfKey, CostRollupResponse, SpendingCap } from '../../client/src/api.ts';
import { openService } from './client.ts';
import { formatCost, formatUsd } from './timeline.ts';
import { asList, list, report, type ListOptions } from './listing.ts';
import { print, printJson, printTable, type Column } from './output.ts';

export function addCostCommand(program: Command): void {
  const costs = program.command('costs').description('what runs cost, and caps on what they may');
  costs
    .command('summary', { isDefault: true })
    .description('what runs cost, by agent, model, project or day')
    .addOption(new Option('-w, --window <window>', 'how far back').choices(['24h', '7d', '30d']).default('7d'))
    .addOption(
      new Option('-b, --by <group>', 'added up by').choices(['agent', 'model', 'project', 'day']).default('agent'),
    )
    .option('--json', 'print JSON')
    .action(show);
  asList(costs.command('caps'))
    .description('what may be spent by calendar month and day, and what is')
    .action(listCaps);
  costs
    .command('forecast')
    .description('what this month may come to')
    .option('--json', 'print JSON')
    .action(showForecast);
  costs
    .command('cap')
    .argument('<cap>', 'workspace, agent.<slug> or api-key.<id>, and .month or .day: agent.writer.month')
    .argument('<usd>', 'US dollars, or `none`')
    .description('cap what a workspace, an agent or an API key spends')
    .option('--alert <percents>', 'tell owners and destinations where so much is spent: 50,80,100, or `none`')
    .option('--json', 'print JSON')
    .action(setCap);
}

const capText = ({ id, spent_usd, limit_usd, until }: SpendingCap): string =>
  `${id}: ${spent_usd} of ${limit_usd} USD spent, until ${until}`;

const listCaps = (options: ListOptions) =>
  list<SpendingCap>(
    {
      path: '/v1/cost/caps',
      columns: [
        { title: 'CAP', value: ({ id }) => id },
        { title: 'SPENT', value: ({ spent_usd }) => spent_usd, align: 'right' },
        { title: 'OF USD', value: ({ limit_usd }) => limit_usd, align: 'right' },
        { title: '%', value: ({ burn }) => Math.round(burn * 100), align: 'right' },
        { title: 'TELLS AT %', value: ({ alert_at }) => alert_at.join(',') || 'never' },
        { title: 'UNTIL', value: ({ until }) => until },
      ],
      empty: 'no caps; set one with: aos costs cap workspace.month 100',
    },
    options,
  );

async function showForecast({ json }: { json?: boolean }): Promise<void> {
  const service = await openService(process.env);
  const forecast = await service.controlPlane<CostForecastResponse>('GET', '/v1/cost/forecast');
  if (json) return printJson(forecast);
  const { month, spent_usd, p50_usd, p90_usd, based_on } = forecast;
  print(`${month}: ${formatCost(spent_usd, based_on.unpriced_runs === 0)} spent`);
  if (p50_usd === null || p90_usd === null) {
    print(`no forecast: it takes 7 whole days, and there are ${based_on.days}`);
  } else {
    print(`by its end about ${formatUsd(p50_usd)}, in nine of ten cases no more than ${formatUsd(p90_usd)}`);
    print(`from ${based_on.days} days, by weekday; on ${based_on.days_with_spend} of them something was spent`);
  }
  if (based_on.unpriced_runs > 0)
    print(`${based_on.unpriced_runs} runs had calls without a known price: it is more than that`);
}

async function setCap(cap: string, usd: string, { json, alert }: { json?: boolean; alert?: string }): Promise<void> {
  const service = await openService(process.env);
  const path = `/v1/cost/caps/${encodeURIComponent(cap)}`;
  if (usd === 'none') {
    await service.controlPlane('DELETE', path);
    return report({ id: cap, deleted: true }, { json }, `${cap} is taken away`);
  }
  const set = await service.controlPlane<SpendingCap>('PUT', path, {
    limit_usd: usd,
    ...(alert !== undefined && { alert_at: alert === 'none' ? [] : alert.split(',').map(Number) }),
  });
  report(set, { json }, capText(set));
}

async function show({ window, by, json }: { window: string; by: string; json?: boolean }): Promise<void> {
  const service = await openService(process.env);
  const rollup = await service.controlPlane<CostRollupResponse>(
    'GET',
    `/v1/cost/rollup?window=${window}&group_by=${by}`,
  );
  if (json) return printJson(rollup);
  const number = (title: string, value: Column<CostOfKey>['value']): Column<CostOfKey> => ({
    title,
    value,
    align: 'right',
  });
  printTable<CostOfKey>(
    rollup.data,
    [
      { title: by.toUpperCase(), value: ({ key }) => key },
      number('USD', ({ cost_usd, unpriced_runs }) =>
        unpriced_runs > 0 ? (Number(cost_usd) === 0 ? 'unpriced' : `>= ${cost_usd}`) : cost_usd,
      ),
      number('SAVED', ({ saved_usd }) => saved_usd),
      number('RUNS', ({ run_count }) => run_count),
      number('TOKENS IN', ({ input_tokens }) => input_tokens),
      number('TOKENS OUT', ({ output_tokens }) => output_tokens),
    ],
    `no runs within ${window}`,
  );
  const { total_cost_usd, saved_usd, run_count } = rollup.meta;
  const unpriced = rollup.data.some(({ unpriced_runs }) => unpriced_runs > 0);
  if (run_count > 0)
    print(`\n${unpriced ? 'at least ' : ''}${total_cost_usd} USD for ${run_count} runs within ${window}`);
  if (Number(saved_usd) > 0) print(`${saved_usd} USD saved by the providers' caches`);
}
