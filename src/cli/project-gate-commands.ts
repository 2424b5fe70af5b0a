/** Adds `aos project gates`, `approve` and `reject`, which show what waits for an answer and give the answer. */
import type { EditSession } from '../../client/src/api.ts';
import { listProjects } from '../resources/projects/reads/contract.ts';
import type { EditPlan } from '../resources/projects/edit-plans/model.ts';
import { openService, type ServiceClient } from './client.ts';
import { ask } from './commands.ts';
import { changesOf } from './following.ts';
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
  const of = async (status: string) => (await ask(service, listProjects, [], { status, limit: MAX_PROJECTS })).data;
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

async function printGates(service: ServiceClient, board: Board): Promise<void> {
  const { id, title } = board.project;
  print(`${paint('bold', id)}  ${oneLine(title)}`);
  for (const gate of waitingGates(board)) {
    print(`  ${gate.place}  ${paint('gray', gate.id)}`);
    const plan = await planBefore(service, id, gate);
    if (plan) print(planLines(plan).join('\n'));
    print(gateLines(service, id, gate).join('\n'));
  }
}

const PLAN_TIMEOUT_MS = 600_000;

/** Returns when the plan of an edit session waits for a decision, and shows it to people. */
export async function showPlan(service: ServiceClient, projectId: string, session: EditSession, isJson: boolean) {
  const board = await untilPlanned(service, projectId, session);
  if (!isJson) await printGates(service, board);
}

async function untilPlanned(service: ServiceClient, projectId: string, session: EditSession): Promise<Board> {
  const changes = await changesOf(service, { projectId, kinds: ['project'] });
  try {
    for (const deadline = performance.now() + PLAN_TIMEOUT_MS; performance.now() < deadline;) {
      const board = await readBoard(service, projectId);
      if (waitingGates(board).some(({ id }) => id === session.gate_subtask_id)) return board;
      const status = board.phases.find(({ id }) => id === session.task_id)?.status;
      if (status === 'failed' || board.project.status === 'paused') {
        throw new CliError(`the project paused before there was a plan; see: aos project show ${projectId}`);
      }
      await changes.next();
    }
  } finally {
    changes.stop();
  }
  throw new CliError(`no plan yet; it will wait in: aos project gates ${projectId}`);
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
  { json }: { json?: boolean | undefined },
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
