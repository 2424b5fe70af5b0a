/**
 * Adds `aos demo`, which shows the product in a minute. Every step is real and goes over HTTP, and a step that fails
 * fails the demo.
 */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { CreatedApiKey, NewWebhook, Project, ProjectAccepted } from '../../client/src/api.ts';
import { present } from '../platform/core/present.ts';
import { projectWorkflowId } from '../resources/projects/model.ts';
import { SAMPLE_NOTE } from '../resources/samples/model.ts';
import { startDemoService, startReceiver, type WebhookReceiver } from '../embedded/demo.ts';
import type { EmbeddedServers } from '../embedded/start.ts';
import { createServiceClient, type ServiceClient } from './client.ts';
import { agreedSettings, withoutModels } from './demo-model.ts';
import { endWhenTold } from './ending.ts';
import { followDemoProject } from './demo-project.ts';
import { MODEL_SETTINGS, modelsIn } from './models.ts';
import { CliError, paint, print } from './output.ts';
import { readArtifacts, writeArtifacts, type WrittenArtifact } from './project-artifacts.ts';
import { workflowSample } from './samples.ts';
import { formatCost, workflowUrl } from './timeline.ts';

const OUTPUT = fileURLToPath(new URL('../../demo-output', import.meta.url));

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start the service on a throw-away directory, have a blog post written, verify its webhook, and stop')
    .option('-o, --out <folder>', 'where what it makes is written', relative(process.cwd(), OUTPUT))
    .option('--offline', 'use the offline model, whatever models the settings name')
    .option('-k, --keep', 'leave the service running at the end, to look around; Ctrl-C stops it')
    .addHelpText('after', '\nExamples:\n  npm run demo\n  npm run demo -- --offline\n  npm run demo -- --keep')
    .action(demo);
}

const WORKFLOW = 'blog-post';
const BUDGET_USD = '2';
const OFFLINE_TIMEOUT_MS = 120_000;
const MODEL_TIMEOUT_MS = 30 * 60_000;
const WEBHOOK_TIMEOUT_MS = 30_000;

interface Demo {
  out: string;
  env: NodeJS.ProcessEnv;
  receiver: WebhookReceiver;
  starting: Promise<EmbeddedServers>;
  service: EmbeddedServers;
  client: ServiceClient;
  webhookSecret: string;
  projectId: string;
  project: Project;
  files: WrittenArtifact[];
}

interface DemoOptions {
  out: string;
  keep?: boolean;
  offline?: boolean;
}

async function demo({ out, keep = false, offline = false }: DemoOptions): Promise<void> {
  const env = offline
    ? withoutModels(process.env)
    : await agreedSettings(process.env, { workflow: WORKFLOW, budgetUsd: BUDGET_USD });
  const context = { out, env } as Demo;
  const stop = async () => {
    // It may just be starting.
    const service = await context.starting?.catch(() => undefined);
    await service?.stop();
    await context.receiver?.close();
  };
  let isTold = false;
  endWhenTold(async () => {
    isTold = true;
    process.exitCode = 130;
    await stop();
  });
  try {
    const tour = await steps(modelsIn(env).length > 0 ? MODEL_TIMEOUT_MS : OFFLINE_TIMEOUT_MS);
    await tour.run(context);
    report(context);
    if (keep) await stayUntilSignalled(context);
  } catch (error) {
    // What was under way has failed because the service is being stopped, after which the process ends.
    if (isTold) await forever();
    throw new CliError(`the demo failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await stop();
  }
  suggest(context);
}

async function steps(timeoutMs: number) {
  const { Listr } = await import('listr2');
  return new Listr<Demo>(
    [
      {
        title: 'Start the service: Postgres, Temporal, worker and API on a throw-away directory',
        async task(demo, task) {
          demo.receiver = await startReceiver();
          demo.starting = startDemoService(demo.env, demo.receiver.host);
          demo.service = await demo.starting;
          task.title = `Started the service at ${demo.service.credentials.base_url} (${seconds(demo.service)})`;
        },
      },
      {
        title: 'Create an API key',
        async task(demo, task) {
          const { base_url, session_cookie, temporal_ui_url } = demo.service.credentials;
          const address = {
            baseUrl: present(base_url),
            session: session_cookie,
            uiUrl: temporal_ui_url ?? undefined,
            apiKey: undefined,
          };
          const { key, key_prefix } = await createServiceClient(address).controlPlane<CreatedApiKey>(
            'POST',
            '/v1/api-keys',
            { name: 'demo' },
          );
          demo.client = createServiceClient({ ...address, apiKey: key });
          task.title = `Created the API key ${key_prefix}...`;
        },
      },
      {
        title: 'Register a webhook',
        async task(demo, task) {
          const { url } = demo.receiver;
          const events = ['project.completed'];
          const { secret } = await demo.client.api<NewWebhook>('POST', '/v1/webhooks', { url, events });
          demo.webhookSecret = secret;
          task.title = `Registered the webhook ${url} for ${events.join()}`;
        },
      },
      {
        title: 'Start a project',
        async task(demo, task) {
          const { title, brief, params } = await workflowSample(demo.client, WORKFLOW);
          const { project_id } = await demo.client.api<ProjectAccepted>('POST', '/v1/projects', {
            workflow_slug: WORKFLOW,
            title,
            brief,
            params,
            cost_budget_usd: BUDGET_USD,
          });
          demo.projectId = project_id;
          task.title = `Started a ${WORKFLOW}: "${title}" (${workflowUrl(demo.client, projectWorkflowId(project_id))})`;
        },
      },
      {
        title: 'Follow it',
        async task(demo, task) {
          demo.project = await followDemoProject(demo.client, demo.projectId, task, timeoutMs);
        },
        rendererOptions: { outputBar: Infinity, persistentOutput: true },
      },
      {
        title: 'Receive the signed webhook and verify it',
        async task(demo, task) {
          const { type, data } = await demo.receiver.verified(demo.webhookSecret, WEBHOOK_TIMEOUT_MS);
          if (type !== 'project.completed' || data.project_id !== demo.projectId)
            throw new Error(`the webhook tells of ${type} ${data.project_id}`);
          task.title = `Received ${type}; its signature is valid`;
        },
      },
      {
        title: 'Write what it made to files',
        async task(demo, task) {
          demo.files = await writeArtifacts(await readArtifacts(demo.client, demo.projectId, false), demo.out);
          if (!demo.files.some(({ file }) => file.endsWith('.html'))) throw new Error('the project made no page');
          task.title = `Wrote ${demo.files.length} artifacts to ${demo.out}/`;
        },
      },
    ],
    { exitOnError: true, registerSignalListeners: false },
  );
}

const seconds = ({ timings }: EmbeddedServers): string =>
  Object.entries(timings)
    .filter(([, ms]) => ms >= 100)
    .map(([part, ms]) => `${part} ${(ms / 1_000).toFixed(1)} s`)
    .join(', ');

function report({ files, project }: Demo): void {
  print(`\n${paint('bold', 'Artifacts')}`);
  const width = Math.max(...files.map(({ file }) => file.length));
  for (const { file, phase_slug, version, bytes } of files) {
    print(`  ${file.padEnd(width)}  ${paint('gray', `phase ${phase_slug}, version ${version}, ${bytes} bytes`)}`);
  }
  print(
    `${paint('bold', 'Cost')}  ${formatCost(project.cost_total_usd, project.is_priced)}${project.sample ? ', as the offline model is priced' : ''}`,
  );
  if (project.sample) print(`${paint('yellow', SAMPLE_NOTE)} Set ${MODEL_SETTINGS} to have a model write.`);
  print();
}

async function stayUntilSignalled({ service, client, projectId }: Demo): Promise<void> {
  const { base_url, api_key } = service.credentials;
  print(`The service stays at ${base_url} (docs: ${base_url}/docs, API key: ${api_key}). Ctrl-C stops it.`);
  print(`Temporal Web UI: ${client.uiUrl}`);
  print(`Look at the project: DATA_DIR=${service.config.DATA_DIR} npx aos project show ${projectId}`);
  // The signal listener of `demo` stops everything and ends the process.
  await forever();
}

const forever = () => new Promise<never>(() => {});

function suggest({ files }: Demo): void {
  const page = present(files.find(({ file }) => file.endsWith('.html'))).file;
  print(paint('gray', 'Stopped. Only the files above were kept.\n'));
  print(paint('bold', 'Next'));
  for (const [what, how] of [
    ['see the page it made', `open ${page} in a browser`],
    ['keep a service running', 'npm start'],
    ['look at it in the browser', 'open the link that it prints'],
    ['then start another', 'npx aos project start childrens-book --sample --watch'],
  ] as const) {
    print(`  ${what.padEnd(28)}${how}`);
  }
}
