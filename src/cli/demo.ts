/** `aos demo`: the product in a minute. Every step is the real thing over HTTP, and any that fails fails the demo. */
import type { Command } from 'commander';
import { Listr } from 'listr2';
import { startDemoService, startReceiver, type ReceivedWebhook, type WebhookReceiver } from '../embedded/demo.ts';
import type { Embedded } from '../embedded/start.ts';
import { createServiceClient, type ServiceClient } from './client.ts';
import { modelsIn } from './models.ts';
import { CliError, paint } from './output.ts';
import { executionUrl, followRun, formatEvent, formatUsd, sumUsd, type Run, type RunEvent } from './timeline.ts';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start the service on a throw-away directory, run an agent, verify its webhook, and stop')
    .option('-k, --keep', 'leave the service running at the end, to look around; Ctrl-C stops it')
    .addHelpText('after', '\nExamples:\n  npm run demo\n  npm run demo -- --keep')
    .action(demo);
}

const QUESTION = 'What is 17% of 2,340, and what time is it in UTC? Use your tools.';
/** What the offline model obeys; a real one decides by itself. */
const OFFLINE_DIRECTIVES = ' [[tool:calculator {"expression":"2340*0.17"}]] [[tool:current_time {}]]';
const RUN_TIMEOUT_MS = 120_000;
const WEBHOOK_TIMEOUT_MS = 30_000;

interface Demo {
  receiver: WebhookReceiver;
  service: Embedded;
  client: ServiceClient;
  webhookSecret: string;
  runId: string;
  events: RunEvent[];
  run: Run;
  webhook: ReceivedWebhook;
}

async function demo({ keep = false }: { keep?: boolean }): Promise<void> {
  const context = { events: [] as RunEvent[] } as Demo;
  const stop = async () => {
    await context.service?.stop();
    await context.receiver?.close();
  };
  const onSignal = () => void stop().finally(() => process.exit(130));
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    await steps(modelsIn(process.env)).run(context);
    report(context);
    if (keep) await stayUntilSignalled(context);
  } catch (error) {
    throw new CliError(`the demo failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await stop();
  }
  console.log(paint('gray', 'Stopped. Nothing was kept.'));
}

const steps = (models: readonly string[]) =>
  new Listr<Demo>(
    [
      {
        title: 'Start the service: Postgres, Temporal, worker and API on a throw-away directory',
        async task(demo, task) {
          demo.receiver = await startReceiver();
          demo.service = await startDemoService(process.env, demo.receiver.host);
          task.title = `Started the service at ${demo.service.credentials.base_url} (${seconds(demo.service)})`;
        },
      },
      {
        title: 'Create an API key',
        async task(demo, task) {
          const { base_url, session_cookie, temporal_ui_url } = demo.service.credentials;
          const address = {
            baseUrl: base_url!,
            session: session_cookie,
            uiUrl: temporal_ui_url ?? undefined,
            apiKey: undefined,
          };
          const { key, key_prefix } = await createServiceClient(address).controlPlane<{
            key: string;
            key_prefix: string;
          }>('POST', '/v1/api-keys', { name: 'demo' });
          demo.client = createServiceClient({ ...address, apiKey: key });
          task.title = `Created the API key ${key_prefix}...`;
        },
      },
      {
        title: 'Register a webhook',
        async task(demo, task) {
          const { url } = demo.receiver;
          const events = ['run.succeeded', 'run.failed'];
          const { secret } = await demo.client.api<{ secret: string }>('POST', '/v1/webhooks', { url, events });
          demo.webhookSecret = secret;
          task.title = `Registered the webhook ${url}`;
        },
      },
      {
        title: 'Dispatch a run',
        async task(demo, task) {
          const prompt = QUESTION + (models.length > 0 ? '' : OFFLINE_DIRECTIVES);
          const { run_id } = await demo.client.api<{ run_id: string }>('POST', '/v1/runs', {
            agent: 'assistant',
            prompt,
          });
          demo.runId = run_id;
          task.title = `Dispatched run ${run_id}: "${QUESTION}"`;
        },
      },
      {
        title: 'Follow its timeline',
        async task(demo, task) {
          for await (const event of followRun(demo.client, demo.runId, { timeoutMs: RUN_TIMEOUT_MS })) {
            demo.events.push(event);
            task.output = formatEvent(event);
          }
          demo.run = await demo.client.api<Run>('GET', `/v1/runs/${demo.runId}`);
          const { status, error } = demo.run;
          if (status !== 'succeeded') throw new Error(`the run ${status}: ${error ?? 'no reason was given'}`);
          if (!demo.events.some(({ event_type }) => event_type === 'tool_result'))
            throw new Error('the agent called no tool');
          task.title = `Followed its timeline: ${demo.events.length} events`;
        },
        rendererOptions: { outputBar: Infinity, persistentOutput: true },
      },
      {
        title: 'Receive the signed webhook and verify it',
        async task(demo, task) {
          demo.webhook = await demo.receiver.verified(demo.webhookSecret, WEBHOOK_TIMEOUT_MS);
          const { type, data } = demo.webhook;
          if (data.run_id !== demo.runId || type !== 'run.succeeded')
            throw new Error(`the webhook tells of ${type} ${data.run_id}`);
          task.title = `Received ${type}; its signature is valid`;
        },
      },
    ],
    { exitOnError: true, registerSignalListeners: false },
  );

const seconds = ({ timings }: Embedded): string =>
  Object.entries(timings)
    .filter(([, ms]) => ms >= 100)
    .map(([part, ms]) => `${part} ${(ms / 1_000).toFixed(1)} s`)
    .join(', ');

function report({ run, runId, events, client }: Demo): void {
  const line = (name: string, text: string | undefined) =>
    text && console.log(`${paint('bold', name.padEnd(10))}${text}`);
  console.log(`\n${paint('bold', 'Output')}\n${run.output}\n`);
  line('Cost', formatUsd(sumUsd(events.map(({ cost_usd }) => cost_usd))));
  line('Temporal', executionUrl(client, runId));
}

async function stayUntilSignalled({ service, client }: Demo): Promise<void> {
  const { base_url, api_key } = service.credentials;
  console.log(`\nThe service stays at ${base_url} (docs: ${base_url}/docs, API key: ${api_key}). Ctrl-C stops it.`);
  console.log(`Temporal Web UI: ${client.uiUrl}`);
  // The listener of `demo` stops everything and ends the process.
  await new Promise<never>(() => {});
}
