/** Pipelines: a project beside bare child workflows in sequence, many of both at once, and commands while they run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { first, itemAt, take } from '../../src/platform/core/present.ts';
import { ownCpuMs } from './load.ts';
import { addCpu, cpuOf, noCpu, type Cpu } from './processes.ts';
import { alone, compared, percentile, type Row } from './report.ts';
import { cpuRows } from './sections.ts';
import type { Product, System } from './systems.ts';

const STEPS = 20;
/** Projects that wait at a gate, to be resolved while others run. */
const GATED = 20;

interface Sequence {
  /** Milliseconds. */
  perStep: number[];
  cpu: Cpu;
  clientCpuMs: number;
  runs: number;
}

/** Of both systems in turn, so that a drift of the machine meets both. */
async function inSequence(systems: readonly System[], pipelines: number): Promise<Sequence[]> {
  const all = systems.map((): Sequence => ({ perStep: [], cpu: noCpu(), clientCpuMs: 0, runs: pipelines * STEPS }));
  for (let i = 0; i < pipelines; i++) {
    for (const [at, system] of systems.entries()) {
      const of = itemAt(all, at);
      const [from, ownFrom] = [cpuOf(system.roots), ownCpuMs()];
      of.perStep.push((await timed(() => system.acceptPipeline(STEPS), system)) / STEPS);
      addCpu(of.cpu, from, cpuOf(system.roots));
      of.clientCpuMs += ownCpuMs() - ownFrom;
    }
  }
  return all;
}

async function timed(start: () => Promise<string>, system: System): Promise<number> {
  const from = performance.now();
  await system.result(await start());
  return performance.now() - from;
}

export async function projects(
  product: Product,
  bare: System,
  { pipelines, together }: { pipelines: number; together: number },
): Promise<Row[]> {
  const systems: readonly System[] = [product, bare];
  const perPhase: number[] = [];
  // The first of each makes its template.
  for (const system of systems) await timed(() => system.acceptPipeline(STEPS), system);
  await timed(() => product.acceptPhases(STEPS), product);
  const [ours, theirs] = take(await inSequence(systems, pipelines), 2);
  for (let i = 0; i < pipelines; i++) {
    perPhase.push((await timed(() => product.acceptPhases(STEPS), product)) / STEPS);
  }
  const [step, bareStep] = [percentile(ours.perStep, 50), percentile(theirs.perStep, 50)];
  return [
    compared(`Project of ${STEPS} steps in sequence, a step, p50`, 'ms', step, bareStep, { atMost: 1, stretch: 0.9 }),
    compared(`The same as ${STEPS} phases of one step`, 'ms', percentile(perPhase, 50), bareStep),
    ...cpuRows('CPU a step, in sequence', ours, theirs),
    ...(await manyAtOnce(product, bare, together)),
  ];
}

async function manyAtOnce(product: Product, bare: System, together: number): Promise<Row[]> {
  const gates = await openGates(product);
  const commands: number[] = [];
  const running = atOnce(product, together);
  await sendCommands(product, gates, running, commands);
  const [ours, theirs] = [await running, await atOnce(bare, together)];
  const rate = (ms: number) => (together * STEPS) / (ms / 1_000);
  return [
    compared(`Steps of ${together} projects at once`, '/s', rate(ours), rate(theirs)),
    alone(`Commands (pause, resume, resolve) meanwhile, of ${commands.length}, p50`, 'ms', percentile(commands, 50)),
    alone('the same, p99', 'ms', percentile(commands, 99), { below: 150 }),
  ];
}

/** @returns milliseconds until all have ended */
async function atOnce(system: System, count: number): Promise<number> {
  const from = performance.now();
  const ids = await Promise.all(Array.from({ length: count }, () => system.acceptPipeline(STEPS)));
  await Promise.all(ids.map((id) => system.result(id)));
  return performance.now() - from;
}

interface OpenGate {
  projectId: string;
  subtaskId: string;
}

async function openGates(product: Product): Promise<OpenGate[]> {
  const ids = await Promise.all(Array.from({ length: GATED }, () => product.acceptGated()));
  return Promise.all(
    ids.map(async (workflowId) => {
      const projectId = workflowId.replace(/^project-/, '');
      for (;;) {
        const { data: tasks } = await product.read(`/projects/${projectId}/tasks`);
        const task = first(tasks as unknown as { id: string }[]);
        const { data: steps } = await product.read(`/projects/${projectId}/tasks/${task.id}/subtasks`);
        const gate = (steps as unknown as { id: string; status: string }[]).find(({ status }) => status === 'blocked');
        if (gate) return { projectId, subtaskId: gate.id };
        await sleep(100);
      }
    }),
  );
}

/** One after another for as long as the others run: pause and resume a project that waits, then resolve its gate. */
async function sendCommands(product: Product, gates: OpenGate[], running: Promise<unknown>, times: number[]) {
  let isOver = false;
  void running.finally(() => (isOver = true));
  const send = async (path: string, body?: unknown) => {
    const from = performance.now();
    await product.command(path, body);
    times.push(performance.now() - from);
  };
  for (const { projectId, subtaskId } of gates) {
    for (let i = 0; i < 5 && !isOver; i++) {
      await send(`/projects/${projectId}/pause`);
      await send(`/projects/${projectId}/resume`);
    }
    await send(`/projects/${projectId}/subtasks/${subtaskId}/resolve-gate`, { decision: 'approved' });
  }
}
