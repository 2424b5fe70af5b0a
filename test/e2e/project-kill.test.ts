/** `kill -9` of the worker, again and again, while several projects are under way: each comes to its end, once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { prepareProcesses, PARTS, type Processes } from '../support/processes/processes.ts';
import type { Part } from '../support/processes/service-process.ts';
import { agentStep, phaseSpec, reviewStep } from '../support/fixtures/projects.ts';
import { tool } from '../support/fixtures/runs.ts';
import { eventually } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { faultsOf } from '../resources/projects/model/record.ts';

const PROJECTS = 4;
const KILLS = 2;
/** What each project posts, one key for each step that does. */
const POSTING = ['start', 'left', 'right', 'end'];
const WORKER: Part = PARTS.includes('worker') ? 'worker' : 'service';

let sink: WebhookReceiver;
let processes: Processes;
const ids: string[] = [];
/** How many posts had arrived when the worker was killed. */
const killedAt: number[] = [];
/** Where a post had arrived although nobody knew: sending it again is what must not be. */
const abandoned = new Set<string>();
const completed: string[] = [];

/** A pipeline of parallel phases and steps whose posts carry the name of their project. */
function phasesOf(name: string) {
  const post = (step: string) =>
    tool('http_request', { method: 'POST', url: `http://${sink.hostAndPort}/${name}/${step}`, body: '{}' });
  const posting = (step: string, more = {}) =>
    agentStep(step, { instructions: `Write it. [[sleep:100]] ${post(step)}`, tools: ['http_request'], ...more });
  return [
    phaseSpec('plan', [posting('start'), reviewStep('check')]),
    phaseSpec('left', [posting('left'), agentStep('more', { depends_on: [] })], { depends_on: ['plan'] }),
    phaseSpec('right', [posting('right'), reviewStep('check')], { depends_on: ['plan'] }),
    phaseSpec(
      'end',
      [
        posting('end'),
        { step_slug: 'join', kind: 'action', role: 'assembler', assignee: 'assemble_markdown', depends_on: ['end'] },
      ],
      { depends_on: ['left', 'right'] },
    ),
  ];
}

beforeAll(async () => {
  sink = await startWebhookReceiver();
  processes = await prepareProcesses({ HOUSEKEEPING_INTERVAL: '1s', EGRESS_ALLOWLIST: sink.hostAndPort });
  await processes.start();
  for (let n = 0; n < PROJECTS; n++) {
    const name = `killed-${n}`;
    const spec = { slug: name, version: 1, title: name, phases: phasesOf(name) };
    expect(await processes.cp('POST', '/v1/workflows', { spec })).toMatchObject({ status: 201 });
    const body = { workflow_slug: name, title: name, brief: 'Tell the story of bread.' };
    const accepted = await processes.cp('POST', '/v1/projects', body);
    expect(accepted).toMatchObject({ status: 201 });
    ids.push(accepted.body.id);
  }
  for (let kill = 0; kill < KILLS; kill++) {
    // Somewhere in what is left, whatever happens to be under way there.
    const from = sink.received.length;
    const share = (PROJECTS * POSTING.length - from) / (KILLS - kill + 1);
    const until = from + Math.floor(Math.random() * share);
    await eventually(async () => {
      if (sink.received.length >= until) return;
      // A post that was under way at the last kill may have paused its project for a person.
      const { body } = await processes.cp('GET', '/v1/projects');
      if (body.data.some(({ status }: { status: string }) => status === 'active')) throw new Error('not there yet');
    });
    killedAt.push(sink.received.length);
    await processes.stop('SIGKILL', [WORKER]);
    await processes.start();
  }
  await eventually(async () => {
    const { body } = await processes.cp('GET', '/v1/projects');
    const open: { id: string; title: string; pause_reason: string | null }[] = body.data.filter(
      ({ status }: { status: string }) => status !== 'completed' && status !== 'abandoned',
    );
    // A second post may fail while a person decides about the first: the project then has nothing left to do.
    const stopped = open.filter(({ pause_reason: reason }) => reason && WITH_FAILED_POSTS.has(reason));
    for (const project of stopped) await decide(project);
    if (open.length > 0) throw new Error(`killed at ${killedAt.join(', ')}; open: ${await whereabouts(open)}`);
  });
  completed.push(...ids.filter((id) => !abandoned.has(id)));
});
const WITH_FAILED_POSTS = new Set(['nonidempotent_crash', 'nothing_dispatchable']);

/** What a test that failed says of the projects that did not come to their end. */
async function whereabouts(open: readonly { id: string }[]): Promise<string> {
  const { body: runs } = await processes.cp('GET', '/v1/runs?limit=100');
  const projects = await Promise.all(
    open.map(async ({ id }) => {
      const { body: tasks } = await processes.cp('GET', `/v1/projects/${id}/tasks`);
      const { body: events } = await processes.cp('GET', `/v1/projects/${id}/events`);
      return { id, tasks: tasks.data, events: events.data };
    }),
  );
  return JSON.stringify({ projects, runs: runs.data });
}

/** What a person does about a post of which nobody knows whether it was sent: looks, and has it sent if it was not. */
async function decide({ id, title }: { id: string; title: string }): Promise<void> {
  const { body: tasks } = await processes.cp('GET', `/v1/projects/${id}/tasks`);
  for (const task of tasks.data) {
    const { body: steps } = await processes.cp('GET', `/v1/projects/${id}/tasks/${task.id}/subtasks`);
    for (const { id: subtaskId, step_slug, status } of steps.data) {
      if (status !== 'failed') continue;
      if (sink.received.some(({ path }) => path === `/${title}/${step_slug}`)) {
        abandoned.add(id);
        await processes.cp('POST', `/v1/projects/${id}/abandon`);
        return;
      }
      await processes.cp('POST', `/v1/projects/${id}/subtasks/${subtaskId}/retry`);
    }
  }
  await processes.cp('POST', `/v1/projects/${id}/resume`);
}

afterAll(async () => {
  await processes?.close();
  await sink?.close();
});

describe('after the kills each project', () => {
  // Guards: an irreversible effect happens once, even where the worker died during it.
  test('has sent each of its posts once', () => {
    const paths = sink.received.map(({ path }) => path);
    expect([...new Set(paths)].sort()).toEqual(paths.sort());
    const ofCompleted = completed.flatMap((id) => POSTING.map((step) => `/killed-${ids.indexOf(id)}/${step}`));
    expect(paths).toEqual(expect.arrayContaining(ofCompleted));
  });

  // Guards: a phase that was closed while its worker died has one artifact, made once.
  test('has one version of each artifact', async () => {
    for (const id of completed) {
      const { body } = await processes.cp('GET', `/v1/projects/${id}/artifacts?current_only=false`);
      const made = body.data.map(({ phase_slug, version }: { phase_slug: string; version: number }) => [
        phase_slug,
        version,
      ]);
      expect(made).toEqual(['plan', 'left', 'right', 'end'].map((slug) => [slug, 1]));
    }
  });

  // Guards: nothing is recorded twice or lost: each step has one attempt, none is left open, costs add up, and there is
  // one end.
  test('has a sound record', async () => {
    await processes.stop('SIGKILL');
    await processes.withDatabase(async (db) => {
      for (const id of completed) {
        expect(await faultsOf(db, id)).toEqual([]);
        const attempts = await db.rows(sql`
          select s.step_slug, count(a.id)::int as n, min(a.status::text) as status
          from subtasks s left join attempts a on a.subtask_id = s.id and not a.is_crashed where s.project_id = ${id}
          group by s.id, s.step_slug having count(a.id) <> 1 or min(a.status) <> 'succeeded'`);
        expect(attempts).toEqual([]);
        const ends = await db.rows(sql`
          select topic from project_events
          where project_id = ${id} and (topic = 'project_completed'
            or (topic = 'project_started' and not coalesce((payload ->> 'resumed')::boolean, false)))
          order by id`);
        expect(ends.map((event) => (event as { topic: string }).topic)).toEqual([
          'project_started',
          'project_completed',
        ]);
      }
    });
  });
});
