/** Adds `aos system`, which shows how the deployment is and what it is, and has it read its files anew. */
import { Option, type Command } from 'commander';
import type { SystemHealth } from '../../client/src/api.ts';
import { openService } from './client.ts';
import { fieldLines } from './fields.ts';
import { report } from './listing.ts';
import { paintStatus, print, printJson } from './output.ts';

interface Output {
  json?: boolean;
}

export function addSystemCommands(program: Command): void {
  const system = program.command('system').description('the deployment itself');
  system
    .command('health', { isDefault: true })
    .description('how each part is; exit code 1 if anything is not well')
    .option('--json', 'print JSON')
    .action(health);
  system.command('info').description('what it is and what it allows').option('--json', 'print JSON').action(info);
  system
    .command('reload')
    .description(
      'read the files of MODEL_CATALOGUE, MODEL_PRICES and MCP_SERVERS anew (for the workspace that operates the service)',
    )
    .addOption(
      new Option('-l, --log-level <level>', 'until the next start').choices([
        'trace',
        'debug',
        'info',
        'warn',
        'error',
      ]),
    )
    .option('--json', 'print JSON')
    .action(reload);
}

async function health({ json }: Output): Promise<void> {
  const found = await (await openService(process.env)).controlPlane<SystemHealth>('GET', '/v1/system/health');
  if (json) printJson(found);
  else {
    for (const { name, status, latency_ms, detail } of found.parts) {
      print(
        `${paintStatus(status, 10)}${name.padEnd(24)}${String(latency_ms).padStart(5)} ms  ${detail ?? ''}`.trimEnd(),
      );
    }
  }
  if (found.status !== 'ok') process.exitCode = 1;
}

async function info(options: Output): Promise<void> {
  const found = await (await openService(process.env)).controlPlane('GET', '/v1/system/info');
  report(found, options, fieldLines(found).join('\n'));
}

async function reload({ logLevel, ...options }: Output & { logLevel?: string }): Promise<void> {
  const service = await openService(process.env);
  const reloaded = await service.controlPlane('POST', '/v1/system/reload', { log_level: logLevel });
  report(reloaded, options, fieldLines(reloaded).join('\n'));
}
