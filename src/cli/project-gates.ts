/** Says of each waiting gate what opens it. */
import { resolveEditPlan, resolveGate as sendDecision } from '../resources/projects/requests/contract.ts';
import { projectWorkflowId, type Decision } from '../resources/projects/model.ts';
import { listAttempts } from '../resources/projects/reads/contract.ts';
import type { EditPlan } from '../resources/projects/edit-plans/model.ts';
import type { ServiceClient } from './client.ts';
import { ask } from './commands.ts';
import { CliError, oneLine, shortTime } from './output.ts';
import { stepsOf, type Board, type PlacedStep } from './project-client.ts';

export const waitingGates = (board: Board): PlacedStep[] =>
  stepsOf(board).filter(({ kind, status }) => kind === 'gate' && status === 'blocked');

/** @returns the question that the gate asks whoever decides */
export const promptOf = ({ gate_config }: PlacedStep): string | undefined =>
  typeof gate_config?.prompt === 'string' ? oneLine(gate_config.prompt) : undefined;

const isPlanApproval = ({ phase }: PlacedStep): boolean => phase.task_kind === 'edit_session';

/** Whom or what a gate waits for, and the command that answers it, where there is one. */
export interface GateHelp {
  waitsFor: string;
  command: string | undefined;
}

export function helpWith(service: ServiceClient, projectId: string, gate: PlacedStep): GateHelp {
  const config = gate.gate_config ?? {};
  if (gate.gate_kind === 'schedule') return { waitsFor: timeOf(gate, config), command: undefined };
  if (gate.gate_kind === 'pipeline_dep') {
    return { waitsFor: `waits until project ${String(config.project_id)} is completed`, command: undefined };
  }
  if (gate.gate_kind === 'webhook') {
    return { waitsFor: 'waits for an external system', command: signalCommand(service, projectId, gate.id) };
  }
  return { waitsFor: 'waits for a person', command: `aos project approve ${projectId} ${gate.place}` };
}

function timeOf({ started_at }: PlacedStep, { at, delay_s, cron }: Record<string, unknown>): string {
  if (typeof at === 'string') return `opens at ${shortTime(new Date(at).toISOString())} UTC`;
  if (typeof cron === 'string') return `opens at the next "${cron}" (UTC)`;
  const due = Date.parse(started_at ?? '') + Number(delay_s) * 1_000;
  return Number.isNaN(due) ? 'opens by itself' : `opens at ${shortTime(new Date(due).toISOString())} UTC`;
}

/** Any Temporal SDK can send the same signal. */
const signalCommand = ({ temporalAddress }: ServiceClient, projectId: string, subtaskId: string): string =>
  [
    'temporal workflow signal',
    ...(temporalAddress ? [`--address ${temporalAddress}`] : []),
    `--workflow-id ${projectWorkflowId(projectId)} --name resolveGate`,
    `--input '${JSON.stringify({ subtask_id: subtaskId, decision: 'approved', decided_by: 'me' })}'`,
  ].join(' ');

export interface Verdict {
  decision: Decision | 'request_changes';
  comment?: string | undefined;
}

/** @throws CliError where the gate does not wait for a person, or another decision came first */
export async function resolveGate(
  service: ServiceClient,
  projectId: string,
  gate: PlacedStep,
  verdict: Verdict,
): Promise<void> {
  if (isPlanApproval(gate)) {
    await ask(service, resolveEditPlan, [projectId, gate.phase.id], { ...verdict });
    return;
  }
  if (verdict.decision === 'request_changes') {
    throw new CliError(`${gate.place} approves no plan of an edit session: reject it with a comment instead`);
  }
  if (gate.gate_kind !== 'human') {
    const { waitsFor, command } = helpWith(service, projectId, gate);
    throw new CliError(`${gate.place} ${waitsFor}${command ? `, which says so with:\n  ${command}` : ''}`);
  }
  await ask(service, sendDecision, [projectId, gate.id], { ...verdict });
}

/** @returns what the planner of an edit session proposes; undefined for any other gate */
export async function planBefore(
  service: ServiceClient,
  projectId: string,
  gate: PlacedStep,
): Promise<EditPlan | undefined> {
  const planner = isPlanApproval(gate) ? gate.phase.steps.find(({ kind }) => kind === 'agent') : undefined;
  if (!planner) return undefined;
  const { data } = await ask(service, listAttempts, [projectId, planner.id]);
  return data.findLast(({ status }) => status === 'succeeded')?.output as EditPlan | undefined;
}
