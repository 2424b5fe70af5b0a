/** Projects of the oracle: how they are written down, started, steered, brought to their end and judged. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, until, type Reply, type Rig, type ServiceClient } from './client.ts';
import { violationsOf, type Observed } from './rules.ts';
import { keyMark, planMark, stepMark, type Answer, type Brain, type ModelCall, type World } from './world.ts';

export interface StepSpec {
  step_slug: string;
  kind: 'agent' | 'action' | 'gate';
  depends_on?: string[];
  [field: string]: unknown;
}
export interface PhaseSpec {
  slug: string;
  title: string;
  depends_on: string[];
  cascade_on_upstream_change?: 'strict' | 'lazy' | 'none';
  steps: StepSpec[];
}

export const agent = (step_slug: string, depends_on?: string[], role = 'producer'): StepSpec => ({
  step_slug,
  kind: 'agent',
  role,
  assignee: 'writer',
  tools: ['calculator'],
  ...(depends_on && { depends_on }),
});
const TEXT = { type: 'string' };
const VERDICTS = {
  reviewer: {
    type: 'object',
    required: ['decision', 'feedback'],
    properties: { decision: { enum: ['approved', 'rejected'] }, feedback: TEXT },
  },
  tester: {
    type: 'object',
    required: ['passed', 'findings'],
    properties: { passed: { type: 'boolean' }, findings: TEXT },
  },
};
export const judge = (
  step_slug: string,
  depends_on?: string[],
  role: 'reviewer' | 'tester' = 'reviewer',
): StepSpec => ({
  ...agent(step_slug, depends_on, role),
  assignee: role,
  max_attempts: 5,
  output_schema: VERDICTS[role],
});
export const gate = (
  step_slug: string,
  gate_config: object = {},
  gate_kind = 'human',
  more: object = {},
): StepSpec => ({
  step_slug,
  kind: 'gate',
  role: 'gatekeeper',
  gate_kind,
  gate_config,
  ...more,
});
export const post = (step_slug = 'post', depends_on?: string[]): StepSpec => ({
  step_slug,
  kind: 'action',
  role: 'utility',
  assignee: 'http_post',
  max_attempts: 1,
  ...(depends_on && { depends_on }),
});
export const phase = (slug: string, depends_on: string[], steps: StepSpec[], more: object = {}): PhaseSpec => ({
  slug,
  title: slug,
  depends_on,
  ...more,
  // Each agent is told who it is, so that the model knows whom it plays.
  steps: steps.map((step) =>
    step.kind === 'agent'
      ? {
          ...step,
          instructions:
            stepMark(slug, step.step_slug) + (/reviewer|tester/.test(String(step.role)) ? ' You judge.' : ''),
        }
      : step,
  ),
});

export const OWNER = 'owner@localhost';
/** Another owner, who starts nothing and writes nothing. */
export const OTHER = 'other@acme.example';

/** How long a model takes whom nobody holds up. */
const THINKS_MS = 20;
/**
 * How often everything is made good without that anything moves, and in all. What a killed process was at is given to
 * another one after up to 30 s, and what that had begun after up to 20 s more: so long may a step stand still, twice.
 */
const STILL_ROUNDS = 80;
const ROUNDS = 240;
/** How long the workflows of a project that is over may take to end. */
const ESCAPE_MS = 300_000;
/** How long a project that does not move is given before it is asked again. */
const ROUND_MS = 1_500;

export interface Oracle {
  rig: Rig;
  world: World;
  client: ServiceClient;
  /** Registers the phases as a workflow and starts a project of it. */
  start(phases: PhaseSpec[]): Promise<Case>;
}
/** Given each project at its end of which something did not hold, with all that is known of it. */
export type Keep = (id: string, found: readonly string[], all: object) => Promise<void>;

export function createOracle(rig: Rig, world: World, keep: Keep = async () => {}): Oracle {
  const client = createClient(rig);
  return { rig, world, client, start: (phases) => startCase(rig, world, client, phases, keep) };
}

export type Case = Awaited<ReturnType<typeof startCase>>;

async function startCase(rig: Rig, world: World, client: ServiceClient, phases: PhaseSpec[], keep: Keep) {
  const key = randomBytes(4).toString('hex');
  const held = new Map<string, { next: PromiseWithResolvers<Answer> }>();
  const signalledBy = new Set<string>();
  const calls = () => world.calls.filter((call) => call.key === key);
  const observe = async (): Promise<Observed> => ({
    record: await client.record(id),
    calls: calls(),
    posts: world.posts.filter((each) => each.key === key),
    signalledBy,
  });

  let brain: Brain = () => wait(THINKS_MS, { kind: 'output' });
  world.think(key, (call: ModelCall) => held.get(call.step)?.next.promise ?? brain(call));

  const spec = { slug: `w-${key}`, version: 1, title: `Of the oracle ${key}`, phases };
  const made = await client.cp('POST', '/v1/workflows', { spec });
  if (made.status !== 201) throw new Error(`not made: ${JSON.stringify(made.body)}`);
  const started = await client.api('POST', '/v1/projects', {
    workflow_slug: spec.slug,
    title: key,
    brief: keyMark(key),
    params: { publish_url: world.postUrl(key) },
  });
  if (started.status !== 201) throw new Error(`not started: ${JSON.stringify(started.body)}`);
  const id: string = started.body.project_id;

  const step = async (name: string) => {
    const [of, slug] = name.split('/');
    const task = (await client.steps(id)).find(({ phase_slug }) => phase_slug === of);
    const found = task?.steps.find(({ step_slug }) => step_slug === slug);
    if (!found) throw new Error(`${id} has no ${name}`);
    return found;
  };
  const untilStep = (name: string, ...statuses: string[]) =>
    until(`${id} ${name} is ${statuses.join(' or ')}`, async () => {
      const found = await step(name);
      return statuses.includes(found.status) && found;
    });
  const untilPhase = (slug: string, ...statuses: string[]) =>
    until(`${id} ${slug} is ${statuses.join(' or ')}`, async () =>
      (await client.steps(id)).some(({ phase_slug, status }) => phase_slug === slug && statuses.includes(status)),
    );
  const command = (path: string, body?: unknown, email?: string): Promise<Reply> =>
    client.command(id, path, body, email);
  const decide = async (name: string, decision: 'approved' | 'rejected', email: string = OTHER): Promise<Reply> =>
    command(`subtasks/${(await step(name)).id}/resolve-gate`, { decision, comment: 'Of the oracle' }, email);

  /** Has a plan made, and approved. */
  async function edit(actions: object[], cascade_mode = 'lazy', email: string = OWNER): Promise<Reply> {
    const plan = { summary: 's', actions: actions.map((action) => ({ rationale: 'r', risk: 'low', ...action })) };
    const asked = await command('edit-sessions', { instruction: planMark(plan), cascade_mode }, email);
    if (asked.status !== 201) return asked;
    const { task_id: taskId, gate_subtask_id: gateId } = asked.body;
    await until(`the plan of ${id}`, async () =>
      (await client.steps(id)).some(({ steps }) =>
        steps.some((each) => each.id === gateId && each.status === 'blocked'),
      ),
    );
    const approved = await command(`edit-sessions/${taskId}/approve`, { decision: 'approved' }, email);
    await until(`what ${id} was to be changed in`, async () =>
      (await client.steps(id)).some((task) => task.id === taskId && ['succeeded', 'failed'].includes(task.status)),
    );
    return approved;
  }

  /**
   * Makes everything good, again and again, as the documents say: answers what waits, retries what failed, resumes.
   * @returns what is wrong when it does not complete so
   */
  async function makeGood(): Promise<string[]> {
    for (const [name] of held) release(name);
    let [seen, still] = ['', 0];
    for (let round = 0; round < ROUNDS && still < STILL_ROUNDS; round++) {
      const project = await client.project(id);
      if (project.status === 'completed' || project.status === 'abandoned') return [];
      const tasks = await client.steps(id);
      for (const task of tasks) {
        for (const each of task.steps) {
          if (each.status === 'blocked' && (each.gate_kind === 'human' || each.gate_kind === 'webhook')) {
            if (task.task_kind === 'edit_session') {
              await command(`edit-sessions/${task.id}/approve`, { decision: 'rejected' });
            } else await answer(each.id, each.gate_kind);
          }
          const isRejected = each.kind === 'gate' && each.status === 'failed';
          if (each.status === 'failed' && task.task_kind === 'edit_session') {
            await command(`edit-sessions/${task.id}/approve`, { decision: 'rejected' });
          } else if (each.status === 'failed' || isRejected) await command(`subtasks/${each.id}/retry`);
        }
      }
      if ((await client.project(id)).status === 'paused') await command('resume');
      const now = JSON.stringify(tasks);
      still = now === seen ? still + 1 : 0;
      await wait(still > 0 ? ROUND_MS : 200);
      seen = now;
    }
    const project = await client.project(id);
    const open = (await client.steps(id)).flatMap(({ phase_slug, status, steps }) =>
      steps
        .filter((each) => !['succeeded', 'skipped'].includes(each.status))
        .map((each) => `${phase_slug}/${each.step_slug} is ${each.status} (${phase_slug} ${status})`),
    );
    return [
      `liveness: ${id} is ${project.status} (${String(project.pause_reason)}) and does not move: ${open.join(', ')}`,
    ];
  }
  async function answer(subtaskId: string, gateKind: string): Promise<void> {
    if (gateKind === 'human') {
      await command(`subtasks/${subtaskId}/resolve-gate`, { decision: 'approved' }, OTHER);
    } else await signal(subtaskId, 'approved');
  }
  async function signal(subtaskId: string, decision: string): Promise<void> {
    signalledBy.add('ci');
    await client.signalGate(id, subtaskId, decision, 'ci').catch(() => {});
  }

  const release = (name: string, given: Answer = { kind: 'output' }): void => {
    held.get(name)?.next.resolve(given);
    held.delete(name);
  };

  return {
    id,
    key,
    /** Calls of this step wait from now on. */
    hold: (name: string) => void held.set(name, { next: Promise.withResolvers<Answer>() }),
    /** Answers those that wait, and holds no more. */
    release,
    /** Answers the calls of steps that are not held. */
    think: (how: Brain) => void (brain = how),
    project: () => client.project(id),
    /** Answers every gate that waits. @param decide asked for each */
    async answerOpen(decision: () => 'approved' | 'rejected', email: string): Promise<void> {
      for (const { id: taskId, task_kind, steps } of await client.steps(id)) {
        for (const each of steps.filter(({ status }) => status === 'blocked')) {
          if (task_kind === 'edit_session')
            await command(`edit-sessions/${taskId}/approve`, { decision: decision() }, email);
          else if (each.gate_kind === 'webhook') await signal(each.id, decision());
          else
            await command(
              `subtasks/${each.id}/resolve-gate`,
              { decision: decision(), comment: 'Of the oracle' },
              email,
            );
        }
      }
    },
    untilCalled: (name: string, times = 1) =>
      until(`${id}: ${name} is called`, async () => calls().filter((call) => call.step === name).length >= times),
    step,
    untilStep,
    untilPhase,
    untilProject: (...statuses: string[]) =>
      until(`${id} is ${statuses.join(' or ')}`, async () => statuses.includes((await client.project(id)).status)),
    command,
    decide,
    edit,
    signal,
    retrigger: (slug: string, cascade: string) =>
      command(`phases/${slug}/retrigger`, { cascade, addendum_brief: 'Again.' }),
    makeGood,
    record: () => client.record(id),
    /** It is brought to its end and judged. @returns what did not hold */
    async finish(): Promise<string[]> {
      const stuck = await makeGood();
      const observed = await observe();
      const found = [...stuck, ...violationsOf(observed)];
      if (found.length > 0) await keep(id, found, { phases, ...observed });
      return found;
    },
    /** Whatever it is in, it can be ended, with all its workflows. */
    async escape(): Promise<string[]> {
      const { status } = await client.project(id);
      if (status !== 'abandoned' && status !== 'completed') {
        const { status: answered, body } = await command('abandon');
        if (answered !== 200)
          return [`escape: ${id} (${status}) cannot be abandoned: ${answered} ${JSON.stringify(body)}`];
      }
      return until(
        `the workflows of ${id} end`,
        async () => (await client.workflowsOf(id)).running === 0,
        ESCAPE_MS,
      ).then(
        () => [],
        async () => [`escape: ${id} is over, and ${(await client.workflowsOf(id)).running} of its workflows run`],
      );
    },
  };
}
