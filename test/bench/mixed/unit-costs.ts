/** What one unit of each kind of work costs, with nothing else under way: the constants of a capacity plan. */
import { Client, Connection } from '@temporalio/client';
import { sql as query } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import type { Deployment } from '../../support/processes/deployment.ts';
import { projectWorkflowId } from '../../../src/resources/projects/model.ts';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import { deliveryWorkflowId } from '../../../src/resources/webhook-subscriptions/model.ts';
import { percentile, sum } from '../report.ts';
import type { CountingClient } from './client.ts';
import { readExecution, readTree, together, type Execution } from './histories.ts';
import type { Receiver } from './receiver.ts';
import { oneProject, oneRun, subscribe, type Done } from './traffic.ts';
import { byPart, cpuByPart, difference, growth, insideOf, storedIn, type ByPart } from './usage.ts';

export interface UnitCost {
  units: number;
  cpuMs: ByPart & { total: number };
  /** Statements to Postgres by part, polls of the one who waits included. */
  statements: { api: number; worker: number };
  /** HTTP requests, polls included. */
  requests: number;
  temporalActions: number;
  historyEvents: number;
  historyBytes: number;
  rows: number;
  bytes: number;
  walBytes: number;
  tables: { table: string; rows: number; bytes: number }[];
  /** Milliseconds from asking to the end as a poll sees it, p50. */
  p50Ms: number;
}

export interface UnitCosts {
  run: UnitCost;
  runWithTool: UnitCost;
  runWithWebhook: UnitCost;
  project: UnitCost;
}

const CALLERS = 4;
/** One in so many as are measured, before: a process that has just started compiles what it runs. */
const WARM_UP = 3;
/** Of each kind, whose histories are read. */
const SAMPLE = 10;

export async function unitCosts(
  deployment: Deployment,
  client: CountingClient,
  receiver: Receiver,
  { runs, projects, say }: { runs: number; projects: number; say: (text: string) => void },
): Promise<UnitCosts> {
  const temporal = new Client({ connection: await Connection.connect({ address: deployment.temporalAddress }) });
  const measure = async (
    name: string,
    units: number,
    one: () => Promise<Done>,
    settled = async (): Promise<unknown> => undefined,
  ) => {
    say(`What one costs: ${name}, ${units} of them`);
    const [stored, inside] = [await storedIn(deployment), await insideOf(deployment)];
    const cpu = cpuByPart(deployment);
    client.take();
    const done = await times(units, one);
    await settled();
    const cpuMs = difference(cpu, cpuByPart(deployment));
    const requests = client.take().length;
    const [storedAfter, insideAfter] = [await storedIn(deployment), await insideOf(deployment)];
    const statementsOf = (part: string) =>
      sum(
        Object.keys(inside)
          .filter((replica) => replica.startsWith(part))
          .map((replica) => present(insideAfter[replica]).statements - present(inside[replica]).statements),
      ) / units;
    const sample = done.slice(-SAMPLE);
    const executions = await Promise.all(sample.map((one) => executionOf(deployment, temporal, one)));
    const average = (of: (execution: Execution) => number) => sum(executions.map(of)) / executions.length;
    const { rows, bytes, walBytes, tables } = growth(stored, storedAfter, units);
    const each = byPart((part) => cpuMs[part] / units);
    const cost: UnitCost = {
      units,
      cpuMs: { ...each, total: each.api + each.worker + each.postgres + each.temporal },
      statements: { api: statementsOf('api'), worker: statementsOf('worker') },
      requests: requests / units,
      temporalActions: average(({ actions }) => actions),
      historyEvents: average(({ events }) => events),
      historyBytes: average((execution) => execution.bytes),
      rows,
      bytes,
      walBytes,
      tables,
      p50Ms: percentile(
        done.map(({ ms }) => ms),
        50,
      ),
    };
    return cost;
  };
  say('Warming up');
  await times(Math.ceil(runs / WARM_UP), () => oneRun(client, { withTool: true }));
  await times(Math.ceil(projects / WARM_UP), () => oneProject(client));
  const run = await measure('a run', runs, () => oneRun(client));
  const runWithTool = await measure('a run with a tool call', runs, () => oneRun(client, { withTool: true }));
  const project = await measure('a project', projects, () => oneProject(client));
  await subscribe(deployment, receiver.url);
  const before = receiver.count();
  const runWithWebhook = await measure(
    'a run with a webhook',
    runs,
    () => oneRun(client),
    () => receiver.untilCount(before + runs),
  );
  await temporal.connection.close();
  return { run, runWithTool, runWithWebhook, project };
}

/** With what it started, deliveries of webhooks among that: they are started beside it. */
export async function executionOf({ db }: Deployment, temporal: Client, { kind, id }: Done): Promise<Execution> {
  const deliveries = await db.rows<{ id: string }>(query`
    select id from webhook_deliveries where event_key in (${`${kind}:${id}`}, ${`${kind}:${id}:1`})`);
  return together([
    await readTree(temporal, workflowIdOf(kind, id)),
    ...(await Promise.all(deliveries.map(({ id }) => readExecution(temporal, deliveryWorkflowId(id))))),
  ]);
}

const workflowIdOf = (kind: Done['kind'], id: string): string =>
  kind === 'run' ? runWorkflowId(id) : projectWorkflowId(id);

async function times(count: number, one: () => Promise<Done>): Promise<Done[]> {
  const done: Done[] = [];
  let left = count;
  const caller = async () => {
    while (left-- > 0) done.push(await one());
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return done;
}
