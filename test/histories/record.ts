/**
 * Records a history of every workflow and branch with the real service: `npm run histories:record`, or, with
 * `-- runs`, `-- waits`, `-- people`, `-- webhooks`, `-- jobs`, `-- integrations`, `-- outputs`, `-- housekeeping`, `-- exports`, `-- workspaces`, `-- projects` or (of these) `-- policies`, of one kind. Run it for a new branch of a workflow, and keep the
 * histories that there are: that they replay shows that executions which are open survive the change.
 */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { newRunId } from '../../src/platform/core/ids.ts';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { conversationOf, runWorkflowId } from '../../src/resources/runs/model.ts';
import { exportWorkflowId } from '../../src/resources/exports/model.ts';
import { makeExport } from '../support/fixtures/belongings.ts';
import { checkWorkflowId } from '../../src/resources/integrations/model.ts';
import { rhythmSignal } from '../../workflows/housekeeper/messages.ts';
import { AGENT_RUN, goAheadSignal } from '../../workflows/run/messages.ts';
import type { agentRun } from '../../workflows/run/workflow.ts';
import globalSetup from '../support/runner/global-setup.ts';
import globalTeardown from '../support/runner/global-teardown.ts';
import { confirmed } from '../support/service/otp.ts';
import { eventually, startTestService } from '../support/service/service.ts';
import { startWebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { normalise } from './normalise.ts';
import { createProjectScenes } from './project-scenes.ts';
import { stageWorkspaces } from './workspace-scenes.ts';
import { deliveries, outputs } from './delivery-scenes.ts';
import { CANARY, type Scene } from './scene.ts';

const DIRECTORY = fileURLToPath(new URL('.', import.meta.url));
/** Stands for the address of the receiver. */
const RECEIVER = 'http://receiver';
const BROKEN = `${RECEIVER}/broken`;
const add = (a: number, b: number) => `[[tool:calculator {"expression":"${a} + ${b}"}]]`;
/** A call that is an activity of its own, unlike one that the turn makes itself. */
const get = (status: number) => `[[tool:http_request {"url":"${RECEIVER}/${status}"}]]`;
const spawn = (prompt: string, wait = true) =>
  `[[tool:spawn_run ${JSON.stringify({ agent: 'writer', prompt: `${CANARY} ${prompt}`, wait })}]]`;

async function runs(scene: Scene): Promise<void> {
  const { tenant, dispatch, keep } = scene;
  const ended = async (name: string, prompt: string) => {
    const runId = await dispatch(prompt);
    await tenant.waitForRun(runId);
    await keep(name, runWorkflowId(runId));
    return runId;
  };
  await ended('run-without-tools', 'Hello');
  await ended('run-two-tool-turns', `${get(200)} ${get(201)} [[then]] ${get(202)} ${get(203)}`);
  await ended('run-failed', '[[fail-status:400]]');
  await ended('run-retried', '[[fail:2]]');
  await ended(
    'run-broken-tools',
    `[[tool:http_request {"url":"${BROKEN}"}]] [[tool:http_request {"method":"POST","url":"${BROKEN}"}]]`,
  );

  const childOf = async (runId: string): Promise<string> => {
    const { body } = await tenant.cp('GET', '/v1/runs');
    return body.data.find((row: { parent_run_id: string | null }) => row.parent_run_id === runId).run_id;
  };
  const parent = await ended('run-parent', spawn(add(1, 1)));
  await keep('run-child', runWorkflowId(await childOf(parent)));
  await ended('run-parent-of-failed', spawn('[[fail-status:400]]'));
  await ended('run-parent-not-waiting', spawn('Hello', false));

  const cancelled = async (name: string, prompt: string, isThere: (runId: string) => Promise<unknown>) => {
    const runId = await dispatch(prompt);
    await eventually(() => isThere(runId));
    await tenant.cp('POST', `/v1/runs/${runId}/cancel`);
    await keep(name, runWorkflowId(runId));
  };
  const isRunning = async (runId: string) => {
    const { body } = await tenant.api('GET', `/v1/runs/${runId}`);
    if (body.status !== 'running') throw new Error(`run ${runId} is ${body.status}`);
  };
  await cancelled('run-cancelled-in-model-call', '[[sleep:60000]]', isRunning);
  await cancelled('run-cancelled-with-child', spawn('[[sleep:60000]]'), async (runId) =>
    isRunning(await childOf(runId)),
  );

  const first = await dispatch('[[sleep:1500]]', { thread_id: 'a' });
  const second = await dispatch('Hello', { thread_id: 'a' });
  await tenant.waitForRun(second);
  await keep('run-first-of-conversation', runWorkflowId(first));
  await keep('run-waited-in-conversation', runWorkflowId(second));

  await continuedAsNew(scene);
}

/** Runs that ask a person. */
async function people({ service, tenant, dispatch, keep }: Scene): Promise<void> {
  await tenant.cp('POST', '/v1/agents', {
    slug: 'asker',
    model: 'offline',
    prompt: 'You ask.',
    allowed_tool_slugs: ['ask_human', 'calculator'],
  });
  const ask = (more: object = {}) => `[[tool:ask_human ${JSON.stringify({ question: CANARY, ...more })}]]`;
  const asked = async (prompt: string, questions = 1) => {
    const runId = await dispatch(prompt, { agent: 'asker' });
    const urls = await eventually(async () => {
      const { body } = await tenant.cp('GET', `/v1/runs/${runId}/events`);
      const rows = body.data as { payload: { url?: string } }[];
      const found = rows.flatMap(({ payload }) => payload.url ?? []);
      if (found.length !== questions) throw new Error(`run ${runId} has not asked yet`);
      return found;
    });
    return { runId, workflowId: runWorkflowId(runId), urls };
  };
  const answer = (url: string) =>
    fetch(service.baseUrl + new URL(url).pathname, { method: 'POST', body: JSON.stringify({ answer: CANARY }) });

  const one = await asked(ask());
  await answer(itemAt(one.urls, 0));
  await keep('run-asked-a-person', one.workflowId);
  const two = await asked(`${ask()} ${add(1, 2)} ${ask()} [[then]] ${add(3, 4)}`, 2);
  for (const url of two.urls.toReversed()) await answer(url);
  await keep('run-asked-two-people', two.workflowId);
  await keep('run-asked-in-vain', (await asked(ask({ timeout_s: 1 }))).workflowId);
  const cancelled = await asked(ask());
  await untilItWaits(service, cancelled.workflowId, 1);
  await tenant.cp('POST', `/v1/runs/${cancelled.runId}/cancel`);
  await keep('run-cancelled-while-asking', cancelled.workflowId);
}

/** A run with an input of its own, since what it may set is no setting: only how soon a history begins anew. */
async function startWith(
  { service, tenant }: Pick<Scene, 'service' | 'tenant'>,
  { prompt, conversation = null }: { prompt: string; conversation?: string | null },
  continueAfterTurns: number,
) {
  const { runtime, services } = service;
  const { workspaceId, customerId } = tenant.caller;
  const runId = newRunId();
  await services.stores.runs.acceptRun({
    id: runId,
    customerId,
    agent: 'assistant',
    transport: 'rest',
    prompt: `${CANARY} ${prompt}`,
    threadId: null,
    channelId: null,
    conversation,
    override: null,
  });
  const limits = { maxTurns: 50, maxTokens: 1_000_000 };
  return runtime.temporal.client.workflow.start<typeof agentRun>(AGENT_RUN, {
    workflowId: runWorkflowId(runId),
    taskQueue: 'orchestration',
    args: [{ runId, customerId, workspaceId, agent: 'assistant', limits, split: false, continueAfterTurns }],
  });
}

async function continuedAsNew(scene: Scene): Promise<void> {
  const handle = await startWith(scene, { prompt: [1, 2, 3].map((n) => add(n, n)).join('[[then]]') }, 2);
  await handle.result();
  await scene.keep('run-before-continuing-as-new', handle.workflowId, handle.firstExecutionRunId);
  await scene.keep('run-after-continuing-as-new', handle.workflowId);
}

const untilItWaits = ({ runtime }: Scene['service'], workflowId: string, times: number): Promise<void> =>
  eventually(async () => {
    const { events } = await runtime.temporal.client.workflow.getHandle(workflowId).fetchHistory();
    const waited = present(events).filter((event) => event.timerStartedEventAttributes).length;
    if (waited !== times) throw new Error(`it has waited ${waited} times`);
  });

/** A run that waits in a conversation for as long as it takes: each signal has it look whether its turn has come. */
async function waits(scene: Scene): Promise<void> {
  const { tenant, dispatch, keep } = scene;
  const first = await dispatch('[[sleep:60000]]', { thread_id: 'long' });
  const handle = await startWith(scene, { prompt: 'Hello', conversation: conversationOf('long') }, 2);
  const latest = scene.service.runtime.temporal.client.workflow.getHandle(handle.workflowId);
  for (const times of [1, 2, 1]) {
    await untilItWaits(scene.service, handle.workflowId, times);
    await latest.signal(goAheadSignal);
  }
  await tenant.cp('POST', `/v1/runs/${first}/cancel`);
  await handle.result();
  await keep('run-before-continuing-to-wait', handle.workflowId, handle.firstExecutionRunId);
  await keep('run-after-continuing-to-wait', handle.workflowId);
}

/** With a round for each execution, so that one is short; the third is told of another rhythm. */
async function housekeeping({ service, keep }: Scene): Promise<void> {
  const { workflow } = service.runtime.temporal.client;
  const rhythm = { choresMs: 1_000, credentialsMs: 1_000, isMetered: false };
  const options = { workflowId: 'housekeeping-of-the-recorder', taskQueue: 'orchestration' };
  const args = [{ rhythm, continueAfterRounds: 1 }];
  const { firstExecutionRunId } = await workflow.start('housekeeper', { ...options, args });
  await keep('housekeeper-before-continuing', options.workflowId, firstExecutionRunId);
  const latest = workflow.getHandle(options.workflowId);
  const { runId } = await eventually(async () => {
    const found = await latest.describe();
    if (found.runId === firstExecutionRunId) throw new Error('it has not continued yet');
    return found;
  });
  await latest.signal(rhythmSignal, { ...rhythm, choresMs: 2_000 });
  await keep('housekeeper-after-continuing', options.workflowId, runId);
  await latest.terminate();
}

async function jobs({ service, tenant, keep }: Scene): Promise<void> {
  const { client } = service.runtime.temporal;
  const { customerId } = tenant.caller;
  const fired = async (name: string, scheduleId: string) => {
    const handle = client.schedule.getHandle(scheduleId);
    await handle.trigger();
    const workflowId = await eventually(async () => {
      const [action] = (await handle.describe()).info.recentActions;
      if (!action) throw new Error(`${scheduleId} has not fired yet`);
      return action.action.workflow.workflowId;
    });
    await keep(name, workflowId);
  };
  const job = { name: 'job', cron: '0 6 1 1 *', agent_slug: 'assistant', brief: `${CANARY} Hello` };
  const { body } = await tenant.cp('POST', '/v1/scheduled-jobs', job);
  await fired('scheduled-job', `job/${customerId}/${body.id}`);
  await tenant.cp('DELETE', `/v1/scheduled-jobs/${body.id}`);

  const shipped = ['daily-digest', 'integration-health'];
  const change = (id: string, enabled: boolean) => tenant.cp('PATCH', `/v1/scheduled-jobs/${id}`, { enabled });
  for (const id of shipped) await change(id, true);
  await fired('scheduled-job-that-ships', `job/${customerId}/daily-digest`);
  await fired('system-job-of-one', `job/${customerId}/integration-health`);
  await fired('system-job', 'system-job/integration-health');
  for (const id of shipped) await client.schedule.getHandle(`job/${customerId}/${id}`).delete();
}

/** A look at a credential that was just given; without a host nobody is asked. */
async function integrationHealth({ tenant, keep }: Scene): Promise<void> {
  const path = '/v1/integrations/smtp/credentials/password';
  const { body } = await confirmed(tenant, 'PUT', path, { value: CANARY });
  await keep('integration-health-of-one', checkWorkflowId(body.token_id));
}

/** An archive that is made, and one whose workflow is cancelled while its parts are stored. */
async function exports(scene: Scene): Promise<void> {
  const { service, tenant, keep } = scene;
  const { customerId, workspaceId } = tenant.caller;
  const nameOf = (exportId: string) => exportWorkflowId({ customerId, exportId });
  const exportId = await makeExport(tenant);
  await keep('export-made', nameOf(exportId));
  const { files } = service.services;
  const { put } = files;
  let isCut = false;
  files.put = () => eventually(() => present(isCut || undefined)).then(() => Promise.reject(new Error('cut')));
  const { body } = await confirmed(tenant, 'POST', `/v1/workspaces/${workspaceId}/exports`);
  const handle = service.runtime.temporal.client.workflow.getHandle(nameOf(body.id));
  await eventually(async () => present((await handle.describe()).raw.pendingActivities?.[0]));
  await handle.cancel();
  isCut = true;
  await keep('export-cancelled', handle.workflowId);
  files.put = put;
}

/** A service, and what its workflows leave. */
async function record(play: (scene: Scene) => Promise<void>, env: Record<string, string>): Promise<void> {
  const receiver = await startWebhookReceiver(({ path }) => Number(path.slice(1)) || 'reset');
  const service = await startTestService({
    env: {
      TASK_QUEUE_PREFIX: '',
      WORKER_BUNDLE: '',
      HOUSEKEEPING_INTERVAL: '1s',
      INTEGRATION_HEALTH_INTERVAL: '1s',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_RETRY_INITIAL: '10ms',
      ...env,
    },
  });
  const tenant = await service.tenant('acc_acme');
  const { client } = service.runtime.temporal;
  try {
    await play({
      service,
      tenant,
      receiver,
      async dispatch(prompt, more) {
        const text = `${CANARY} ${prompt}`.replaceAll(RECEIVER, `http://${receiver.hostAndPort}`);
        const { body } = await tenant.api('POST', '/v1/runs', { agent: 'assistant', prompt: text, ...more });
        return body.run_id;
      },
      async keep(name, workflowId, firstExecution) {
        const handle = client.workflow.getHandle(workflowId, firstExecution);
        await client.workflow
          .getHandle(workflowId, firstExecution, { followRuns: firstExecution === undefined })
          .result()
          .catch(() => {});
        const history = normalise(JSON.parse(historyToJSON(await handle.fetchHistory())));
        await writeFile(`${DIRECTORY}${name}.json`, `${JSON.stringify(history)}\n`);
        process.stdout.write(`${name}\n`);
      },
    });
  } finally {
    await client.schedule.getHandle('system-job/integration-health').delete();
    await service.close();
    await receiver.close();
  }
}

const [wanted] = process.argv.slice(2);
const isWanted = (
  kind:
    | 'runs'
    | 'waits'
    | 'people'
    | 'webhooks'
    | 'housekeeping'
    | 'jobs'
    | 'integrations'
    | 'outputs'
    | 'projects'
    | 'policies'
    | 'exports'
    | 'workspaces',
): boolean => wanted === undefined || wanted === kind;

await mkdir(DIRECTORY, { recursive: true });
await globalSetup();
await record(async (scene) => {
  if (isWanted('runs')) await runs(scene);
  if (isWanted('waits')) await waits(scene);
  if (isWanted('jobs')) await jobs(scene);
  if (isWanted('people')) await people(scene);
  if (isWanted('webhooks')) await deliveries(scene);
  if (isWanted('housekeeping')) await housekeeping(scene);
  if (isWanted('integrations')) await integrationHealth(scene);
  if (isWanted('exports')) await exports(scene);
  if (isWanted('outputs')) await outputs(scene);
  if (isWanted('projects')) await createProjectScenes({ ...scene, canary: CANARY }).all();
  else if (isWanted('policies')) await createProjectScenes({ ...scene, canary: CANARY }).policies();
}, {});
await record(
  async (scene) => {
    if (isWanted('projects')) await createProjectScenes({ ...scene, canary: CANARY }).onSplitQueues();
    if (!isWanted('runs')) return;
    const { dispatch, keep, tenant } = scene;
    const runId = await dispatch(`${get(200)} ${spawn('Hello')}`);
    await tenant.waitForRun(runId);
    await keep('run-on-split-queues', runWorkflowId(runId));
  },
  { WORKER_QUEUES: 'orchestration,models,tools,webhooks' },
);
if (isWanted('workspaces')) {
  const { env, play, close } = await stageWorkspaces();
  await record(play, env);
  await close();
}
await globalTeardown();
