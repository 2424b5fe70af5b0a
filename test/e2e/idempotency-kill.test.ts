/** `kill -9` of an API process while it answers a request with an `Idempotency-Key`, and the same request to the next one. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { first, present } from '../../src/platform/core/present.ts';
import { startNativePostgres } from '../support/database/native-postgres.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec, startProject } from '../support/fixtures/projects.ts';
import { deploy, type Deployment, type Replica } from '../support/processes/deployment.ts';
import { drawn } from '../support/runner/sizes.ts';
import { isMissing } from '../support/programs/missing.ts';
import { call, eventually, type Answer, type Tenant } from '../support/service/service.ts';
import { asks, ASKER_AGENT, openWaits } from '../resources/inbox/waits.ts';

const probe = await startNativePostgres();
const isWithout = isMissing('keys of killed processes', typeof probe === 'string' ? probe : undefined);
if (typeof probe !== 'string') await probe.stop();

/** Held by the test: a process waits at the place where it would keep its answer. */
const BEFORE_ANSWER = 4_711_099;

let deployment: Deployment;
let api: Replica;
let holder: pg.Client;

(isWithout ? describe.skip : describe)('kill -9', () => {
  beforeAll(async () => {
    deployment = await deploy({ apis: 1, workers: 1, settings: { EXTENSIONS: 'idempotency' } });
    api = present(deployment.replicas.find(({ part }) => part === 'api'));
    holder = new pg.Client({ connectionString: deployment.databaseUrl });
    await holder.connect();
    await holder.query(`
      create function wait_before_answer() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(${BEFORE_ANSWER}); return new; end $$;
      create trigger wait_before_answer before update of answer on idempotency_keys for each row
        when (new.answer is not null) execute function wait_before_answer()`);
    const tenant = deployment as unknown as Tenant;
    expect((await deployment.cp('POST', '/v1/agents', ASKER_AGENT)).status).toBe(201);
    await makeTemplate(tenant, 'gated', [phaseSpec('text', [agentStep('write'), gateStep('gate')])]);
  });
  afterAll(async () => {
    await holder?.end();
    await deployment?.close();
  });

  interface Asked {
    path: string;
    body: unknown;
    status: number;
    /** What the killed process waits for, where it has not done anything yet. */
    table: string;
    /** How often it was done. */
    countDone: () => Promise<number>;
  }
  const count = async (what: ReturnType<typeof sql>): Promise<number> =>
    first(await deployment.db.rows<{ n: number }>(what)).n;

  const REQUESTS: Record<string, () => Promise<Asked>> = {
    async 'starts a run'() {
      const prompt = `Say something of ${Math.random()}.`;
      return {
        path: '/v1/runs',
        body: { agent: 'assistant', prompt },
        status: 201,
        table: 'runs',
        countDone: () => count(sql`select count(*)::int as n from runs where prompt = ${prompt}`),
      };
    },
    async 'answers a question in the inbox'() {
      const runId = await asks(deployment as unknown as Tenant, 'Which colour?');
      const wait = await waitOf({ run_id: runId });
      return {
        path: `/v1/inbox/${wait.id}/answer`,
        body: { answer: 'submit', revision: wait.revision, data: { answer: 'blue' } },
        status: 200,
        table: 'miniapp_pages',
        countDone: () =>
          count(sql`
          select count(*)::int as n from miniapp_pages where run_id = ${runId} and submitted is not null`),
      };
    },
    async 'answers a gate in the inbox'() {
      const projectId = await startProject(deployment as unknown as Tenant, 'gated');
      const wait = await waitOf({ project_id: projectId });
      return {
        path: `/v1/inbox/${wait.id}/answer`,
        body: { answer: 'approve', revision: wait.revision, comment: 'Good.' },
        status: 200,
        table: 'project_commands',
        countDone: () =>
          count(sql`
          select count(*)::int as n from project_events where project_id = ${projectId} and topic = 'gate_resolved'`),
      };
    },
  };
  const waitOf = (of: Record<string, string>) =>
    eventually(async () => {
      const [wait] = await openWaits(deployment as unknown as Tenant, of);
      if (!wait) throw new Error('nothing waits');
      return wait;
    });

  let key = 0;
  const ask = ({ path, body }: Asked): Promise<Answer> => {
    const headers = { cookie: `service_session=${deployment.session}`, 'idempotency-key': `key-${key}` };
    return call(`${api.url}/api/v1/cp${path}`, 'POST', headers, body);
  };
  const isHeldUp = () =>
    eventually(async () => {
      const { rows } = await holder.query(`
        select 1 from pg_locks l join idempotency_keys k on k.answer is null
        where not l.granted and l.database = (select oid from pg_database where datname = current_database())`);
      expect(rows.length).toBeGreaterThan(0);
    });
  /** As if the time had passed for which it is taken to be alive. */
  const letItsTimePass = () =>
    deployment.db.rows(sql`update idempotency_keys set lease_until = now() - interval '1 s' where answer is null`);

  /**
   * The request meets a lock, its process is killed there, and the same request comes to the process after it.
   * @param isCarriedOut whether the database still does what the dead process had asked of it
   */
  async function killedAt(asked: Asked, lock: string, isCarriedOut: boolean) {
    key += 1;
    await holder.query(lock);
    const lost = ask(asked).then(
      (answer) => answer.status,
      () => 'lost' as const,
    );
    await isHeldUp();
    await deployment.kill(api);
    if (!isCarriedOut) await holder.query('select pg_terminate_backend(pid) from pg_locks where not granted');
    await holder.query('rollback');
    await holder.query('select pg_advisory_unlock_all()');
    expect(await lost).toBe('lost');
    await deployment.start(api);
    await letItsTimePass();
    return ask(asked);
  }

  describe.each(Object.entries(REQUESTS))('of a process that %s', (name, prepare) => {
    const place = (asked: Asked) => ({
      'before it is done': [`begin; lock table ${asked.table} in share mode`, false],
      'while it is done': [`begin; lock table ${asked.table} in share mode`, true],
      'after it is done': [`select pg_advisory_lock(${BEFORE_ANSWER})`, false],
    });

    // Guards: nothing is done twice, and no caller is told that somebody else was first, wherever the process was
    // killed.
    test.each(drawn(name, ['before it is done', 'while it is done', 'after it is done'] as const, 1))(
      '%s',
      async (when) => {
        const asked = await prepare();
        const [lock, isCarriedOut] = place(asked)[when] as [string, boolean];
        const again = await killedAt(asked, lock, isCarriedOut);
        expect(again.headers.get('idempotency-replayed')).toBeNull();
        expect([again.status, again.body]).toEqual([asked.status, expect.anything()]);
        expect(await asked.countDone()).toBe(1);
        const third = await ask(asked);
        expect([third.body, third.headers.get('idempotency-replayed')]).toEqual([again.body, 'true']);
        expect(await asked.countDone()).toBe(1);
      },
    );
  });
});
