/** Going back over HTTP: retriggers and reverts, and what they do to the phases downstream in each cascade mode. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import type { PhaseSpec } from '../../../src/resources/templates/model.ts';
import {
  agentStep,
  artifactsOf,
  attemptsAt,
  command,
  contextOf,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  startProject,
  topicsOf,
  triesOf,
  untilGate,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: '127.0.0.1:9' } });
  acme = await service.tenant('acc_acme');
  const after = (slug: string, depends_on: string[], mode?: PhaseSpec['cascade_on_upstream_change']) =>
    phaseSpec(slug, [agentStep('write')], { depends_on, cascade_on_upstream_change: mode });
  await makeTemplate(acme, 'chain', [
    phaseSpec('outline', [agentStep('write')]),
    after('draft', ['outline'], 'strict'),
    after('poster', ['outline'], 'none'),
    after('article', ['draft'], 'lazy'),
  ]);
  await makeTemplate(acme, 'waiting', [
    phaseSpec('outline', [agentStep('write')]),
    phaseSpec('draft', [agentStep('write'), gateStep('gate'), agentStep('polish')], { depends_on: ['outline'] }),
  ]);
});
afterAll(() => service?.close());

async function completed(): Promise<string> {
  const id = await startProject(acme, 'chain');
  await untilProject(acme, id, 'completed');
  return id;
}
/** Current versions by phase. */
const versionsOf = async (id: string) =>
  Object.fromEntries((await artifactsOf(acme, id)).map(({ phase_slug, version }) => [phase_slug, version]));
const retrigger = (id: string, phase: string, body: Record<string, unknown> = {}) =>
  command(acme, id, `phases/${phase}/retrigger`, body);
const count = (topics: string[], topic: string) => topics.filter((each) => each === topic).length;

describe('a retrigger of a completed project', () => {
  // Guards: each mode does what it says to each phase downstream, in the answer, the statuses and the versions;
  // meanwhile the project is active, and it completes again.
  test.each([
    {
      cascade: 'lazy',
      affected: ['draft', 'poster', 'article'],
      stale: ['draft', 'poster', 'article'],
      rerun: [],
      versions: { outline: 2, draft: 1, poster: 1, article: 1 },
    },
    {
      cascade: 'strict',
      affected: ['draft', 'poster', 'article'],
      stale: [],
      rerun: ['draft', 'poster', 'article'],
      versions: { outline: 2, draft: 2, poster: 2, article: 2 },
    },
    {
      cascade: 'none',
      affected: [],
      stale: [],
      rerun: [],
      versions: { outline: 2, draft: 1, poster: 1, article: 1 },
    },
    {
      cascade: 'default',
      affected: ['draft', 'article'],
      stale: ['article'],
      rerun: ['draft'],
      versions: { outline: 2, draft: 2, poster: 1, article: 1 },
    },
  ])('$cascade', async ({ cascade, affected, stale, rerun, versions }) => {
    const id = await completed();
    const spent = async (phases: string[]) => {
      const tries = await Promise.all(phases.map((phase) => attemptsAt(acme, id, phase, 'write')));
      return tries.reduce((sum, [first]) => sum + Number(present(first).cost_usd), 0);
    };
    const answer = await retrigger(id, 'outline', { cascade, addendum_brief: 'Mention SALT' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      project_id: id,
      phase_slug: 'outline',
      cascade,
      affected_phase_slugs: affected,
      marked_stale: stale,
      auto_retriggered: rerun,
      cost_estimate_usd: expect.any(String),
    });
    expect(Number(answer.body.cost_estimate_usd)).toBeCloseTo(await spent(['outline', ...rerun]), 10);
    const project = await untilProject(acme, id, 'completed');
    expect(project.has_stale_phases).toBe(stale.length > 0);
    expect(await versionsOf(id)).toEqual(versions);
    expect(await phaseStatuses(acme, id)).toEqual(
      Object.fromEntries(Object.keys(versions).map((slug) => [slug, stale.includes(slug) ? 'stale' : 'succeeded'])),
    );
    const [, second] = await attemptsAt(acme, id, 'outline', 'write');
    expect(second).toMatchObject({ attempt_number: 2, attempt_reason: 'cascade_retrigger', status: 'succeeded' });
    expect(await contextOf(acme, present(second))).toContain('Mention SALT');
    const history = (await artifactsOf(acme, id, false)).filter(({ phase_slug }) => phase_slug === 'outline');
    expect(history).toMatchObject([
      { version: 1, superseded: true, superseded_by_artifact_id: history[1].id, produced_via: 'initial' },
      { version: 2, superseded: false, supersedes_artifact_id: history[0].id, produced_via: 'cascade_retrigger' },
    ]);
    const topics = await topicsOf(acme, id);
    expect(count(topics, 'project_completed')).toBe(2);
    expect(count(topics, 'task_stale')).toBe(stale.length);
    expect(count(topics, 'cascade_skipped')).toBe(cascade === 'none' || cascade === 'default' ? 1 : 0);
    // Downstream is told the new version, and nothing of the addendum.
    if (rerun.includes('draft')) {
      const again = itemAt(await attemptsAt(acme, id, 'draft', 'write'), 1);
      expect(await contextOf(acme, again)).toContain('Upstream artifact: outline (version 2)');
    }
    // What is stale can be brought up to date.
    if (stale.includes('article')) {
      expect(await retrigger(id, 'article', { cascade: 'none' })).toMatchObject({ status: 200 });
      await untilProject(acme, id, 'completed');
      expect((await phaseStatuses(acme, id)).article).toBe('succeeded');
    }
  });

  // Guards: each completion sends one webhook.
  test('is another completion', async () => {
    const beta = await service.tenant('acc_beta');
    expect(await beta.api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/hook' })).toMatchObject({ status: 201 });
    await makeTemplate(beta, 'one', [phaseSpec('text', [agentStep('write')])]);
    const id = await startProject(beta, 'one');
    await untilProject(beta, id, 'completed');
    await command(beta, id, 'phases/text/retrigger');
    await eventually(async () => expect(count(await topicsOf(beta, id), 'project_completed')).toBe(2));
    const deliveries = await service.runtime.db.rows(sql`
      select event_type, event_key from webhook_deliveries where customer_id = ${beta.caller.customerId} order by id`);
    expect(deliveries).toEqual([
      { event_type: 'project.completed', event_key: `project:${id}:1` },
      { event_type: 'project.completed', event_key: `project:${id}:2` },
    ]);
  });

  // Guards: of two simultaneous retriggers one begins, and the other is told that the phase is under way.
  test('begins once', async () => {
    await makeTemplate(acme, 'held', [phaseSpec('outline', [agentStep('write'), gateStep('gate')])]);
    const id = await startProject(acme, 'held');
    await (await untilGate(acme, id, 'outline', 'gate')).approve();
    await untilProject(acme, id, 'completed');
    const answers = await Promise.all([1, 2, 3].map(() => retrigger(id, 'outline')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    await (await untilGate(acme, id, 'outline', 'gate')).approve();
    await untilProject(acme, id, 'completed');
    expect(await versionsOf(id)).toEqual({ outline: 2 });
  });
});

describe('while downstream is under way', () => {
  /** Its second phase waits at a gate, with the first version of its first in its hands. */
  async function waiting() {
    const id = await startProject(acme, 'waiting');
    const gate = await untilGate(acme, id, 'draft', 'gate');
    return { id, gate };
  }

  // Guards: a phase under way ends with the versions it began with, and is then stale.
  test('lazy marks it stale at its end', async () => {
    const { id, gate } = await waiting();
    expect(await retrigger(id, 'outline')).toMatchObject({
      status: 200,
      body: { affected_phase_slugs: ['draft'], marked_stale: ['draft'], auto_retriggered: [] },
    });
    await eventually(async () => expect((await phaseStatuses(acme, id)).outline).toBe('succeeded'));
    expect((await phaseStatuses(acme, id)).draft).toBe('blocked');
    await gate.approve();
    expect(await untilProject(acme, id, 'completed')).toMatchObject({ has_stale_phases: true });
    expect(await phaseStatuses(acme, id)).toEqual({ outline: 'succeeded', draft: 'stale' });
    expect(await triesOf(acme, id, 'draft', 'write')).toEqual(['initial succeeded']);
  });

  // Guards: under `strict` it ends with the versions it began with, and then runs again with the new one.
  test('strict runs it again at its end', async () => {
    const { id, gate } = await waiting();
    expect(await retrigger(id, 'outline', { cascade: 'strict' })).toMatchObject({
      body: { auto_retriggered: ['draft'] },
    });
    await eventually(async () => expect((await phaseStatuses(acme, id)).outline).toBe('succeeded'));
    await gate.approve();
    await eventually(async () =>
      expect(await triesOf(acme, id, 'draft', 'write')).toEqual(['initial succeeded', 'cascade_retrigger succeeded']),
    );
    await (await untilGate(acme, id, 'draft', 'gate')).approve();
    await untilProject(acme, id, 'completed');
    expect(await versionsOf(id)).toEqual({ outline: 2, draft: 2 });
    const again = itemAt(await attemptsAt(acme, id, 'draft', 'write'), 1);
    expect(await contextOf(acme, again)).toContain('Upstream artifact: outline (version 2)');
  });

  // Guards: a phase under way, or one that has not begun, cannot be retriggered; a paused project's phase can, and the
  // project stays paused.
  test('it cannot be sent back itself', async () => {
    const { id } = await waiting();
    expect(await retrigger(id, 'draft')).toMatchObject({ status: 409 });
    await command(acme, id, 'pause');
    expect(await retrigger(id, 'outline', { cascade: 'none' })).toMatchObject({ status: 200 });
    expect(await retrigger(id, 'outline')).toMatchObject({ status: 409 });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'paused' });
    expect(await triesOf(acme, id, 'outline', 'write')).toEqual(['initial succeeded']);
    await command(acme, id, 'resume');
    await eventually(async () => expect(await versionsOf(id)).toEqual({ outline: 2 }));
    await command(acme, id, 'abandon');
  });
});

describe('an approval', () => {
  // Guards against: an approval of version 1 that publishes version 2, in one phase or by a phase of gates alone.
  test.each(['together', 'apart'] as const)('counts for what was approved alone (%s)', async (how) => {
    const slug = `approved-${how}`;
    const post = [agentStep('post')];
    const gates = [gateStep('gate'), gateStep('hold')];
    await makeTemplate(acme, slug, [
      phaseSpec('draft', [agentStep('write')]),
      ...(how === 'together'
        ? [phaseSpec('publish', [...gates, ...post], { depends_on: ['draft'] })]
        : [phaseSpec('publish', gates, { depends_on: ['draft'] })]),
      phaseSpec('news', post, { depends_on: ['draft', 'publish'] }),
    ]);
    const id = await startProject(acme, slug);
    const posted = how === 'together' ? 'publish' : 'news';
    await (await untilGate(acme, id, 'publish', 'gate')).approve();
    const hold = await untilGate(acme, id, 'publish', 'hold');
    await retrigger(id, 'draft', { cascade: 'lazy' });
    await eventually(async () => expect((await versionsOf(id))['draft']).toBe(2));
    await hold.approve();
    const again = await untilGate(acme, id, 'publish', 'gate');
    expect(await attemptsAt(acme, id, posted, 'post')).toEqual([]);
    await again.approve();
    await (await untilGate(acme, id, 'publish', 'hold')).approve();
    await untilProject(acme, id, 'completed');
    const [attempt] = await attemptsAt(acme, id, posted, 'post');
    expect(await contextOf(acme, present(attempt))).toContain('Upstream artifact: draft (version 2)');
  });
});

describe('a revert', () => {
  const revert = (id: string, body: Record<string, unknown>) =>
    command(acme, id, 'phases/outline/revert-artifact', body);

  // Guards: a reverted version is current again, nothing is deleted, and downstream follows; the next run of the phase
  // makes the next number.
  test('makes an earlier version current', async () => {
    const id = await completed();
    await retrigger(id, 'outline', { cascade: 'none' });
    await untilProject(acme, id, 'completed');
    const reverted = await revert(id, { target_version: 1, cascade: 'strict', reason: 'It was better' });
    expect(reverted).toMatchObject({
      status: 200,
      body: {
        artifact: { version: 1, superseded: false, superseded_by_artifact_id: null },
        cascade: 'strict',
        affected_phase_slugs: ['draft', 'poster', 'article'],
        marked_stale: [],
        auto_retriggered: ['draft', 'poster', 'article'],
      },
    });
    await untilProject(acme, id, 'completed');
    expect(await versionsOf(id)).toEqual({ outline: 1, draft: 2, poster: 2, article: 2 });
    const again = itemAt(await attemptsAt(acme, id, 'draft', 'write'), 1);
    expect(await contextOf(acme, again)).toContain('Upstream artifact: outline (version 1)');
    const events = await projectEventsOf(acme, id);
    expect(events.find(({ topic }) => topic === 'artifact_reverted')).toMatchObject({
      actor_kind: 'human',
      payload_jsonb: { from_version: 2, to_version: 1, reason: 'It was better' },
    });
    expect(await revert(id, { target_version: 1 })).toMatchObject({ status: 409 });
    expect(await revert(id, { target_version: 3 })).toMatchObject({ status: 404 });

    await retrigger(id, 'outline');
    expect(await untilProject(acme, id, 'completed')).toMatchObject({ has_stale_phases: true });
    expect((await versionsOf(id)).outline).toBe(3);
    const history = (await artifactsOf(acme, id, false)).filter(({ phase_slug }) => phase_slug === 'outline');
    expect(history.map(({ version, superseded }) => [version, superseded])).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ]);
  });
});
