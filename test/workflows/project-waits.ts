/** Compares what the metadata of a project and its phases says with the record. */
import { expect } from '@jest/globals';
import { present } from '../../src/platform/core/present.ts';
import { phaseWorkflowId, projectWorkflowId } from '../../src/resources/projects/model.ts';
import { projectOf, tasksOf } from '../support/fixtures/projects.ts';
import { eventually, type Tenant } from '../support/service/service.ts';

interface Step {
  step_slug: string;
  kind: string;
  gate_kind: string | null;
  status: string;
  started_at: string;
  depends_on: string[];
}

const seconds = (time: string) => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

/** The project's pause and each wait in its phases: by its metadata, and by the record. Times are in seconds. */
async function expectWaitsOf(
  acme: Tenant,
  id: string,
  { board, phases }: { board: string; phases: Record<string, Step[]> },
): Promise<void> {
  const { status, pause_reason } = await projectOf(acme, id);
  const { body: events } = await acme.cp('GET', `/v1/projects/${id}/events?limit=1000`);
  const { body: inbox } = await acme.cp('GET', `/v1/inbox?project_id=${id}`);
  const pausedAt = events.data.find(({ topic }: { topic: string }) => topic === 'project_paused')?.ts;
  const isOpen = { gate: true, plan: true, webhook_gate: true, question: true, lost_effect: true, paused: false };
  const ofPeople: [string, string, string][] = inbox.data
    .filter(({ kind }: { kind: keyof typeof isOpen }) => isOpen[kind])
    .map((wait: Record<string, string>) => [
      wait.phase_slug ?? 'text',
      wait.run_id === null ? `gate ${wait.step_slug}` : `run ${wait.run_id}`,
      seconds(present(wait.opened_at)),
    ]);
  const steps = Object.entries(phases).flatMap(([phase, of]) => of.map((step) => ({ phase, ...step })));
  const ofTime = steps
    .filter(({ gate_kind, status: at }) => at === 'blocked' && ['schedule', 'pipeline_dep'].includes(gate_kind ?? ''))
    .map(({ phase, step_slug, started_at }) => [phase, `gate ${step_slug}`, seconds(started_at)]);
  const isDone = (phase: string, slug: string) =>
    present(phases[phase]).some(({ step_slug, status: at }) => step_slug === slug && at === 'succeeded');
  // Its own phase has ended, where a step has failed.
  const held = steps.filter(
    ({ phase, status: at, depends_on }) =>
      status === 'paused' &&
      at === 'pending' &&
      depends_on.every((slug) => isDone(phase, slug)) &&
      !present(phases[phase]).some((step) => step.status === 'failed'),
  );
  const recorded = [
    ...(status === 'paused' ? [['', pause_reason, seconds(pausedAt)]] : []),
    ...ofPeople,
    ...ofTime,
    ...held.map(({ phase, step_slug }) => [phase, `paused ${step_slug}`, '']),
  ];
  const shapes: [RegExp, (...found: string[]) => [string, string, string]][] = [
    [/^- the project is paused \((\w+)\), since ([\d-]+ [\d:]+) UTC$/gm, (why = '', since = '') => ['', why, since]],
    [
      /^- `(.+?)` waits for gate `(\w+)` .*since ([\d-]+ [\d:]+) UTC/gm,
      (p = '', g = '', s = '') => [p, `gate ${g}`, s],
    ],
    [
      /^- `(.+?)` waits for a person \(.*since ([\d-]+ [\d:]+) UTC: `aos inbox --run (\w+)`$/gm,
      (phase = '', since = '', run = '') => [phase, `run ${run}`, since],
    ],
    [/^- `(.+?)` waits for the project to go on: `(\w+)` is next$/gm, (p = '', step = '') => [p, `paused ${step}`, '']],
  ];
  const told = shapes.flatMap(([shape, read]) => [...board.matchAll(shape)].map(([, ...found]) => read(...found)));
  const named = (waits: unknown[][]) => waits.map(([phase, what]) => `${String(phase)}: ${String(what)}`).toSorted();
  expect(named(told)).toEqual(named(recorded));
  // A workflow hears of some a moment after the record.
  for (const [phase, what, since] of told.filter((wait) => wait[2])) {
    const [, , at] = present(recorded.find((wait) => wait[0] === phase && wait[1] === what));
    expect(Math.abs(Date.parse(`${since}Z`) - Date.parse(`${at}Z`))).toBeLessThanOrEqual(5_000);
  }
}

/** The cells of the rows below the head of a table. */
const tableIn = (details: string): string[][] =>
  details
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
    .filter(([cell]) => !/^-+$/.test(present(cell)));

/** A project, its phases, steps and open gates: by the Web UI, once it says what the record says. */
export async function untilMetadataAgrees(
  acme: Tenant,
  id: string,
  { phases, start, detailsOf }: { phases: string[]; start: number; detailsOf: (workflowId: string) => Promise<string> },
): Promise<string> {
  return eventually(async () => {
    const board = await detailsOf(projectWorkflowId(id));
    const [head, ...rows] = tableIn(board);
    const tasks = await tasksOf(acme, id);
    expect(present(head)[0]).toBe(`**${(await projectOf(acme, id)).status}**`);
    expect(rows.map(([name, status]) => [name?.slice(2), status])).toEqual(
      tasks.map(({ phase_slug, status }) => [phase_slug, status]),
    );
    let all = board;
    const stepsOf: Record<string, Step[]> = {};
    for (const phase of phases) {
      const details = await detailsOf(phaseWorkflowId(id, phase, start));
      all += details;
      const task = present(tasks.find(({ phase_slug }) => phase_slug === phase));
      const { body } = await acme.cp('GET', `/v1/projects/${id}/tasks/${task.id}/subtasks`);
      const steps: Step[] = body.data;
      stepsOf[phase] = steps;
      expect(tableIn(details).slice(1)).toEqual(steps.map(({ step_slug, kind, status }) => [step_slug, kind, status]));
      const open = steps.filter(({ kind, status }) => kind === 'gate' && status === 'blocked');
      const waits = [...details.matchAll(/^- `(\w+)` waits: gate .*, since ([\d-]+ [\d:]+) UTC$/gm)];
      expect(waits.map(([, gate, since]) => [gate, since])).toEqual(
        open.map(({ step_slug, started_at }) => [step_slug, seconds(started_at)]),
      );
    }
    await expectWaitsOf(acme, id, { board, phases: stepsOf });
    return all;
  });
}
