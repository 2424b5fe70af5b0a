/**
 * What the inbox adds to a gate that opens and is answered: the same commands on one connection of a native Postgres, with the
 * triggers of the table of waits and without them, in turns. CPU is that of the connection's own process of the database and of
 * this process, which stands for the worker.
 */
import { sql } from 'drizzle-orm';
import { first } from '../../src/platform/core/present.ts';
import { createDatabase, type Database } from '../../src/platform/db/client.ts';
import * as commands from '../../src/resources/projects/commands.ts';
import { createProjectEngine } from '../../src/resources/projects/engine/index.ts';
import { gate, insertProject } from '../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';
import { openNativePostgres } from '../support/database/native-postgres.ts';
import { withoutWaits } from '../support/database/without-waits.ts';
import { ownCpuMs } from './load.ts';
import { cpuOf } from './processes.ts';
import { compared, type Row } from './report.ts';

/** Approvers who are mailed where somebody wants mails. */
const MEMBERS = 50;

interface WaitSizes {
  blocks: number;
  /** In a block. */
  gates: number;
}

interface Spent {
  database: number;
  client: number;
  gates: number;
}

export async function waits({ blocks, gates }: WaitSizes): Promise<Row[]> {
  const server = await openNativePostgres();
  if (typeof server === 'string') throw new Error(`there is no Postgres: ${server}`);
  const db = createDatabase({ url: server.url, poolSize: 1 });
  try {
    await makeWorkspace(db, 'acc_acme');
    const answerGates = answering(db, first(await db.rows<{ pid: number }>(sql`select pg_backend_pid() as pid`)).pid);
    const inTurns = async (name: string): Promise<Row[]> => {
      const [having, lacking] = [none(), none()];
      for (let block = 0; block < blocks; block++) {
        await answerGates(gates, having);
        await withoutWaits(db, () => answerGates(gates, lacking));
      }
      const each = (spent: Spent, of: readonly (keyof Spent)[]) =>
        of.reduce((total, part) => total + spent[part], 0) / spent.gates;
      const row = (measure: string, of: readonly (keyof Spent)[]) =>
        compared(measure, 'ms', each(having, of), each(lacking, of));
      return [
        row(`CPU of a gate that opens and is answered, ${name}; bare: without waits`, ['database', 'client']),
        row('of which database', ['database']),
      ];
    };
    // The first have their statements planned and their pages read.
    await answerGates(gates, none());
    const untold = await inTurns('nobody is told');
    await mailApprovers(db);
    return [...untold, ...(await inTurns(`${MEMBERS} members are mailed`))];
  } finally {
    await db.close();
    await server.close();
  }
}

const none = (): Spent => ({ database: 0, client: 0, gates: 0 });

function answering(db: Database, pid: number) {
  const engine = createProjectEngine(db);
  const phases = [{ slug: 'a', steps: [gate('approve', { status: 'pending' })] }];
  const actor = { kind: 'human' as const, id: 'ann@acme.example' };
  return async (count: number, spent: Spent): Promise<void> => {
    const projects = [];
    for (let i = 0; i < count; i++) projects.push(await insertProject(db, { customerId: 'acme', phases }));
    const [ofDatabase, own] = [cpuOf([pid]).total, ownCpuMs()];
    for (const { id: projectId, taskId, stepId } of projects) {
      const opening = { granted: null, key: 'run:1' };
      await engine.openAndBegin({ projectId, taskId: taskId('a'), iteration: 1 }, opening, () => 'idempotent');
      await commands.resolveGate(db, {
        projectId,
        gateKind: 'human',
        actor,
        commandId: crypto.randomUUID(),
        answer: { subtask_id: stepId('a/approve'), decision: 'approved' },
      });
    }
    spent.database += cpuOf([pid]).total - ofDatabase;
    spent.client += ownCpuMs() - own;
    spent.gates += count;
  };
}

async function mailApprovers(db: Database): Promise<void> {
  await db.rows(sql`
    insert into workspace_members (id, customer_id, email, role, invited_by)
    select gen_random_uuid(), 'acme', 'member-' || n || '@acme.example', 'member', 'system' from generate_series(1, ${MEMBERS}::int) n`);
  await db.rows(sql`
    insert into output_destinations (id, customer_id, name, kind, config, waits)
    values (gen_random_uuid(), 'acme', 'mail', 'email', '{"to": ["ann@acme.example"], "approvers": true}', true)`);
}
