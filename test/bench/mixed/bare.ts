/** Runs beside bare workflows of three empty activities, in turns: the same callers, servers of the same flags. */
import { Client, Connection } from '@temporalio/client';
import type { Deployment } from '../../support/processes/deployment.ts';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import { underLoad, type Throughput } from '../load.ts';
import { addCpu, noCpu } from '../processes.ts';
import { percentile, sum } from '../report.ts';
import { startFloor, type System } from '../systems.ts';
import type { CountingClient } from './client.ts';

export interface Side {
  runsPerS: number;
  cpuMs: number;
  acceptMs: { p50: number; p99: number };
  terminalMs: { p50: number; p99: number };
}

export interface Beside {
  callers: number;
  product: Side;
  bare: Side;
}

const CALLERS = 16;
const ROUNDS = 3;

export async function besideBare(
  deployment: Deployment,
  client: CountingClient,
  { folder, ms }: { folder: string; ms: number },
): Promise<Beside> {
  const bare = await startFloor(folder);
  const temporal = new Client({ connection: await Connection.connect({ address: deployment.temporalAddress }) });
  const { service, postgres, temporal: server } = deployment.pids();
  const refuse = () => Promise.reject(new Error('not measured here'));
  const product: System = {
    roots: [...service, postgres, server],
    async accept() {
      const body = { agent: 'assistant', prompt: 'Say hello.' };
      return runWorkflowId((await client.api('dispatch a run', 'POST', '/v1/runs', body)).run_id);
    },
    result: (workflowId) => temporal.workflow.result(workflowId),
    check: refuse,
    acceptPipeline: refuse,
    stop: refuse,
  };
  const accepts = { product: [] as number[], bare: [] as number[] };
  const timed = (system: System, into: number[]): System => ({
    ...system,
    async accept() {
      const from = performance.now();
      const id = await system.accept();
      into.push(performance.now() - from);
      return id;
    },
  });
  const [ours, theirs] = [timed(product, accepts.product), timed(bare, accepts.bare)];
  for (const system of [product, bare]) await underLoad(system, { callers: CALLERS, ms: ms / 3 });
  const rounds: [Throughput, Throughput][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const phase = { callers: CALLERS, ms: ms / ROUNDS };
    rounds.push([await underLoad(ours, phase), await underLoad(theirs, phase)]);
  }
  await bare.stop();
  await temporal.connection.close();
  return {
    callers: CALLERS,
    product: sideOf(
      rounds.map(([one]) => one),
      accepts.product,
    ),
    bare: sideOf(
      rounds.map(([, one]) => one),
      accepts.bare,
    ),
  };
}

function sideOf(rounds: readonly Throughput[], acceptMs: readonly number[]): Side {
  const cpu = noCpu();
  for (const round of rounds) addCpu(cpu, noCpu(), round.cpu);
  const both = (values: readonly number[]) => ({ p50: percentile(values, 50), p99: percentile(values, 99) });
  return {
    runsPerS: sum(rounds.map(({ inTime }) => inTime)) / (sum(rounds.map(({ ms }) => ms)) / 1_000),
    cpuMs: cpu.total / sum(rounds.map(({ runs }) => runs)),
    acceptMs: both(acceptMs),
    terminalMs: both(rounds.flatMap(({ terminalMs }) => terminalMs)),
  };
}
