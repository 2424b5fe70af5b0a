/** Adds `aos start`, which runs the whole service in the foreground until Ctrl-C. */
import type { Command } from 'commander';
import { endWhenTold } from './ending.ts';
import { modelsIn } from './models.ts';
import { paint, print } from './output.ts';
import type { EmbeddedServers } from '../embedded/start.ts';

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('run the whole service here: API, worker, and the Postgres and Temporal that no setting names')
    .option('-d, --data-dir <path>', 'where data is kept (default: DATA_DIR, else .data)')
    .addHelpText(
      'after',
      '\nEvery setting is an environment variable or a line in .env.\nExamples:\n  aos start\n  PORT=9090 aos start --data-dir /var/lib/aos',
    )
    .action(start);
}

async function start({ dataDir = process.env.DATA_DIR || '.data' }: { dataDir?: string }): Promise<void> {
  if (process.stdout.isTTY) print(paint('gray', `Starting in ${dataDir} ...`));
  const { startEmbedded } = await import('../embedded/start.ts');
  const starting = startEmbedded(process.env, { dataDir });
  endWhenTold(stop(starting));
  const embedded = await starting;
  announce(embedded);
}

/** A service that failed to start has reported that and stopped by itself. */
const stop = (starting: Promise<EmbeddedServers>) => async (signal: string) => {
  try {
    const embedded = await starting;
    embedded.log.info({ signal }, 'stopping; again to stop at once');
    await embedded.stop();
    embedded.log.info('stopped');
  } catch {
    process.exitCode = 1;
  }
};

function announce({ credentials, log, timings, newConsoleLink }: EmbeddedServers): void {
  const { base_url, control_plane_url, temporal_ui_url, api_key } = credentials;
  const consoleUrl = base_url && `${base_url}/console`;
  const docs = base_url && `${base_url}/docs`;
  const curl =
    base_url &&
    `curl -s ${base_url}/v1/runs -H 'authorization: Bearer ${api_key}' -H 'content-type: application/json' ` +
      `-d '{"agent":"assistant","prompt":"What is 17% of 2,340?"}'`;
  const readyMs = Math.round(process.uptime() * 1_000);
  const models = modelsIn(process.env);
  if (!process.stdout.isTTY) {
    log.info(
      {
        event: 'ready',
        base_url,
        // The link that signs in is left out, because logs are kept and read by more people than a terminal.
        console: consoleUrl,
        docs,
        control_plane_url,
        temporal_ui_url,
        api_key,
        curl,
        models,
        ready_ms: readyMs,
        timings,
      },
      'ready',
    );
    return;
  }
  const line = (name: string, text: string | null) => text && print(`  ${paint('bold', name.padEnd(16))}${text}`);
  print(
    `\n${paint('green', '●')} ${paint('bold', 'Agent Orchestration Service')} is ready (${(readyMs / 1_000).toFixed(1)} s)\n`,
  );
  line('Console', newConsoleLink() ?? consoleUrl);
  if (consoleUrl) print(paint('gray', '                  signs you in, once; later: ' + consoleUrl));
  line('API', base_url);
  line('Reference', docs);
  line('Control plane', control_plane_url);
  line('Temporal Web UI', temporal_ui_url);
  line('API key', api_key);
  line('Models', models.length > 0 ? models.join(', ') : 'offline: deterministic answers, no model key is set');
  if (curl)
    print(
      `\n  Dispatch a run:\n\n  ${curl}\n\n  or watch one:  npx aos run assistant "What is 17% of 2,340?" --follow`,
    );
  print(paint('gray', '\n  Ctrl-C stops it. Data stays.\n'));
}
