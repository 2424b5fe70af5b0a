/**
 * What callers do, in the shares of a busy day: most dispatch runs and poll them to their end, some look at lists, some
 * start projects, answer their gates and poll those. Heartbeats and a scheduled job go on beside them, and a receiver
 * takes the webhooks of every run and project.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../../support/processes/deployment.ts';
import { agentStep, gateStep, phaseSpec, reviewStep } from '../../support/fixtures/projects.ts';
import { NotAnswered, type CountingClient } from './client.ts';

const POLL_MS = 250;
/** What has not come to its end by then is a wrong end. */
const PATIENCE_MS = 120_000;
const TEMPLATE = 'load';
const HEARTBEATS = 4;

/** Steps that a project of the template runs an agent for. */
export const AGENT_STEPS = 4;

/** Two phases with a person's gate in the first. */
const PHASES = [
  phaseSpec('draft', [agentStep('write'), reviewStep('check'), gateStep('approve')]),
  phaseSpec('polish', [agentStep('left'), agentStep('right', { depends_on: [] })], { depends_on: ['draft'] }),
];

/** Units of work that came to their end, with the milliseconds from asking for them. */
export interface Done {
  kind: 'run' | 'project';
  id: string;
  ms: number;
}

export async function makeTemplate({ cp }: Deployment): Promise<void> {
  const spec = { slug: TEMPLATE, version: 1, title: 'Load', phases: PHASES };
  const { status, body } = await cp('POST', '/v1/workflows', { spec });
  if (status !== 201) throw new Error(`no template: ${JSON.stringify(body)}`);
}

/** Heartbeats of 10 s, a job of each minute. */
export async function startSchedules({ cp }: Deployment): Promise<void> {
  const prompted = { agent_slug: 'assistant', enabled: true };
  const made = [
    ...Array.from({ length: HEARTBEATS }, (_, i) =>
      cp('POST', '/v1/heartbeats', { ...prompted, name: `beat ${i}`, prompt: 'Anything new?', interval_s: 10 }),
    ),
    cp('POST', '/v1/scheduled-jobs', { ...prompted, name: 'each minute', brief: 'Sum up.', cron: '* * * * *' }),
  ];
  for (const { status, body } of await Promise.all(made)) {
    if (status !== 201) throw new Error(`no schedule: ${JSON.stringify(body)}`);
  }
}

export async function subscribe({ api }: Deployment, url: string): Promise<void> {
  const { status, body } = await api('POST', '/v1/webhooks', { url, events: ['*'] });
  if (status !== 201) throw new Error(`no subscription: ${JSON.stringify(body)}`);
}

/** @returns what throws this when the time is over */
function patience(complaint: string): () => void {
  const deadline = Date.now() + PATIENCE_MS;
  return () => {
    if (Date.now() > deadline) throw new Error(complaint);
  };
}

const timed = async (kind: Done['kind'], work: () => Promise<string>): Promise<Done> => {
  const from = performance.now();
  return { kind, id: await work(), ms: performance.now() - from };
};

const PLAIN = 'Say hello.';
const WITH_TOOL = 'What is six times seven? [[tool:calculator {"expression":"6*7"}]]';

/** Dispatches a run and polls it to its end. */
export const oneRun = (client: CountingClient, { withTool = false } = {}): Promise<Done> =>
  timed('run', async () => {
    const prompt = withTool ? WITH_TOOL : PLAIN;
    const { run_id: id } = await client.api('dispatch a run', 'POST', '/v1/runs', { agent: 'assistant', prompt });
    const stillPatient = patience(`run ${id} does not end`);
    for (;;) {
      stillPatient();
      await sleep(POLL_MS);
      const { status } = await client.api('poll a run', 'GET', `/v1/runs/${id}`);
      if (status === 'succeeded') return id as string;
      if (status !== 'queued' && status !== 'running') throw new Error(`run ${id} is ${status}`);
    }
  });

/** Starts a project, answers its gate when it waits there, and polls it to its end. */
export const oneProject = (client: CountingClient, { isPaused = false } = {}): Promise<Done> =>
  timed('project', async () => {
    const asked = { title: 'Load', workflow_slug: TEMPLATE, brief: 'Tell the story of bread.' };
    const { id } = await client.cp('start a project', 'POST', '/projects', asked);
    const gate = await untilGate(client, id);
    if (isPaused) {
      await client.cp('command: pause', 'POST', `/projects/${id}/pause`);
      await client.cp('command: resume', 'POST', `/projects/${id}/resume`);
    }
    const answer = { decision: 'approved' };
    await client.cp('command: resolve a gate', 'POST', `/projects/${id}/subtasks/${gate}/resolve-gate`, answer);
    const stillPatient = patience(`project ${id} does not end`);
    for (;;) {
      stillPatient();
      await sleep(POLL_MS);
      const { status } = await client.cp('poll a project', 'GET', `/projects/${id}`);
      if (status === 'completed') return id as string;
      if (status !== 'active') throw new Error(`project ${id} is ${status}`);
    }
  });

async function untilGate(client: CountingClient, projectId: string): Promise<string> {
  let taskId: string | undefined;
  const stillPatient = patience(`project ${projectId} does not come to its gate`);
  for (;;) {
    stillPatient();
    await sleep(POLL_MS);
    if (!taskId) {
      const { data: tasks } = await client.cp('list tasks', 'GET', `/projects/${projectId}/tasks`);
      taskId = tasks.find(({ phase_slug }: { phase_slug: string }) => phase_slug === 'draft')?.id as string;
    }
    const { data: steps } = await client.cp('list steps', 'GET', `/projects/${projectId}/tasks/${taskId}/subtasks`);
    const gate = steps.find((step: { kind: string; status: string }) => step.status === 'blocked');
    if (gate) return gate.id;
  }
}

/** What a web application asks for when somebody opens it. */
async function look(client: CountingClient): Promise<void> {
  const [{ data }] = await Promise.all([
    client.cp('list runs', 'GET', '/runs?limit=50'),
    client.cp('list projects', 'GET', '/projects?limit=50'),
    client.cp('list events', 'GET', '/events?limit=50'),
    client.cp('statistics', 'GET', '/runs/stats/today'),
  ]);
  const run = data[0]?.run_id as string | undefined;
  if (!run) return;
  await client.cp('detail of a run', 'GET', `/runs/${run}/detail`);
  await client.cp('events of a run', 'GET', `/runs/${run}/events`);
}

/**
 * So many callers, each of which does one thing after another until the time is over; what is under way then is finished
 * before this returns.
 * @param random from 0 to 1
 */
export async function underTraffic(
  client: CountingClient,
  { callers, ms, random }: { callers: number; ms: number; random: () => number },
): Promise<{ done: (Done & { inTime: boolean })[]; failures: string[] }> {
  const from = performance.now();
  const isTime = () => performance.now() - from < ms;
  const done: (Done & { inTime: boolean })[] = [];
  const failures: string[] = [];
  const act = async (): Promise<Done | void> => {
    const choice = random();
    if (choice < 0.65) return oneRun(client, { withTool: choice < 0.15 });
    if (choice < 0.85) return look(client);
    return oneProject(client, { isPaused: choice < 0.9 });
  };
  const caller = async () => {
    while (isTime()) {
      try {
        const one = await act();
        if (one) done.push({ ...one, inTime: isTime() });
      } catch (error) {
        // Counted by its status; what comes to a wrong end is counted here alone.
        if (!(error instanceof NotAnswered)) failures.push((error as Error).message);
        await sleep(POLL_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { done, failures };
}
