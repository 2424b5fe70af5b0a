/** Adds `aos costs`, which shows what the runs of a period cost. */
import { Option, type Command } from 'commander';
import type { CostOfKey, CostRollupResponse } from '../../client/src/api.ts';
import { openService } from './client.ts';
import { print, printJson, printTable, type Column } from './output.ts';

export function addCostCommand(program: Command): void {
  program
    .command('costs')
    .description('what runs cost, by agent, model, project or day')
    .addOption(new Option('-w, --window <window>', 'how far back').choices(['24h', '7d', '30d']).default('7d'))
    .addOption(
      new Option('-b, --by <group>', 'added up by').choices(['agent', 'model', 'project', 'day']).default('agent'),
    )
    .option('--json', 'print JSON')
    .action(show);
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
      number('USD', ({ cost_usd, unpriced_runs }) => (unpriced_runs > 0 ? `>= ${cost_usd}` : cost_usd)),
      number('RUNS', ({ run_count }) => run_count),
      number('TOKENS IN', ({ input_tokens }) => input_tokens),
      number('TOKENS OUT', ({ output_tokens }) => output_tokens),
    ],
    `no runs within ${window}`,
  );
  const { total_cost_usd, run_count } = rollup.meta;
  if (run_count > 0) print(`\n${total_cost_usd} USD for ${run_count} runs within ${window}`);
}
