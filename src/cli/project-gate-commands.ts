/** Adds `aos project gates`, `approve` and `reject`, which show what waits for an answer and give the answer. */
import type { ProjectsListResponse } from '../../client/src/api.ts';
import type { EditPlan } from '../resources/projects/edit-plans/model.ts';
import { openService, type ServiceClient } from './client.ts';
import { CliError, oneLine, paint, print, printJson } from './output.ts';
import { gateLines } from './project-board.ts';
import { mapAtOnce, pickStep, readBoard, type Board } from './project-client.ts';
import { planBefore, promptOf, resolveGate, waitingGates, type Verdict } from './project-gates.ts';

const MAX_PROJECTS = 500;
const READ_AT_ONCE = 4;

export async function listGates(projectId: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const service = await openService(process.env);
  const ids = projectId === undefined ? await openProjects(service) : [projectId];
  const boards = await mapAtOnce(ids, READ_AT_ONCE, (id) => readBoard(service, id));
  if (json) return printJson({ data: boards.flatMap(gateRows) });
  const waiting = boards.filter((board) => waitingGates(board).length > 0);
  if (waiting.length === 0) print('nothing waits');
  for (const board of waiting) await printGates(service, board);
}

async function openProjects(service: ServiceClient): Promise<string[]> {
  const of = async (status: string) =>
    (await service.controlPlane<ProjectsListResponse>('GET', `/v1/projects?status=${status}&limit=${MAX_PROJECTS}`))
      .data;
  return [...(await of('active')), ...(await of('paused'))].map(({ id }) => id);
}

const gateRows = (board: Board) =>
  waitingGates(board).map((gate) => ({
    project_id: board.project.id,
    phase_slug: gate.phase.phase_slug,
    step_slug: gate.step_slug,
    subtask_id: gate.id,
    gate_kind: gate.gate_kind,
    prompt: promptOf(gate) ?? null,
    waiting_since: gate.started_at,
  }));

export async function printGates(service: ServiceClient, board: Board): Promise<void> {
  const { id, title } = board.project;
  print(`${paint('bold', id)}  ${oneLine(title)}`);
  for (const gate of waitingGates(board)) {
    print(`  ${gate.place}  ${paint('gray', gate.id)}`);
    const plan = await planBefore(service, id, gate);
    if (plan) print(planLines(plan).join('\n'));
    print(gateLines(service, id, gate).join('\n'));
  }
}

const planLines = ({ summary, actions }: EditPlan): string[] => [
  `   ${oneLine(summary)}`,
  ...actions.map(
    ({ kind, phase_slug, rationale, instructions, risk }, i) =>
      `   ${i + 1}. ${kind} ${phase_slug}${risk ? ` (risk ${risk})` : ''}: ${oneLine(instructions ?? rationale)}`,
  ),
];

export async function answerGate(
  projectId: string,
  gateName: string | undefined,
  verdict: Verdict,
  { json }: { json?: boolean },
): Promise<void> {
  const service = await openService(process.env);
  const board = await readBoard(service, projectId);
  const gates = waitingGates(board);
  if (gates.length === 0) throw new CliError(`nothing waits in project ${projectId}: it is ${board.project.status}`);
  const gate = pickStep(gates, gateName, 'waiting gate');
  await resolveGate(service, projectId, gate, verdict);
  const { project } = await readBoard(service, projectId);
  if (json) {
    return printJson({
      project_id: projectId,
      phase_slug: gate.phase.phase_slug,
      step_slug: gate.step_slug,
      subtask_id: gate.id,
      decision: verdict.decision,
      project_status: project.status,
    });
  }
  print(`${gate.place}: ${verdict.decision}; the project is ${project.status}`);
}
