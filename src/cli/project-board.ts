/**
 * Shows a project as lines of a terminal: its phases, what happens in them, what waits and for whom, and what it cost.
 */
import type { Project } from '../../client/src/api.ts';
import type { PauseReason, TaskStatus } from '../resources/projects/model.ts';
import type { ServiceClient } from './client.ts';
import { oneLine, paint, paintStatus, shorten } from './output.ts';
import { withoutCode } from './problems.ts';
import { stepsOf, type Board, type PhaseWithStatus, type PlacedStep } from './project-client.ts';
import { helpWith, promptOf, waitingGates } from './project-gates.ts';
import { formatCost, formatUsd } from './timeline.ts';

const MARKS: Record<TaskStatus, string> = {
  pending: '·',
  running: '▶',
  blocked: '⏸',
  review: '▶',
  succeeded: '✔',
  failed: '✖',
  skipped: '–',
  stale: '~',
};
/** Of a longer board, only the phases in which something happens are shown. */
const MAX_PHASES = 20;
const MAX_TITLE = 40;

/** @returns for example `active  $0.0021 of $5.00 (0.04%)  1:02` */
export function headline(project: Project, now = Date.now()): string {
  const { status, pause_reason } = project;
  const state = status === 'paused' && pause_reason ? `paused (${pause_reason})` : status;
  return `${paintStatus(status).replace(status, state)}  ${formatSpend(project)}  ${formatElapsed(project, now)}`;
}

export function formatSpend({ cost_total_usd, cost_budget_usd, is_priced }: Project): string {
  const spent = formatCost(cost_total_usd, is_priced);
  if (cost_budget_usd === null) return spent;
  if (!is_priced) return `${spent} of ${formatUsd(cost_budget_usd)}`;
  const burn = (Number(cost_total_usd) / Number(cost_budget_usd)) * 100;
  return `${spent} of ${formatUsd(cost_budget_usd)} (${Number(burn.toPrecision(2))}%)`;
}

function formatElapsed({ started_at, completed_at, abandoned_at }: Project, now: number): string {
  if (started_at === null) return '0:00';
  const ended = completed_at ?? abandoned_at;
  const seconds = Math.max(0, Math.floor(((ended ? Date.parse(ended) : now) - Date.parse(started_at)) / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const padded = (number: number) => String(number).padStart(2, '0');
  return hours > 0 ? `${hours}:${padded(minutes)}:${padded(seconds % 60)}` : `${minutes}:${padded(seconds % 60)}`;
}

/** @returns one line for each phase, and below it the gates that wait */
export function boardLines(service: ServiceClient, board: Board): string[] {
  const { shown, left } = phasesToShow(board.phases);
  const slugs = Math.max(0, ...shown.map(({ phase_slug }) => phase_slug.length));
  const titles = Math.min(MAX_TITLE, Math.max(0, ...shown.map(({ title }) => title.length)));
  const gates = waitingGates(board);
  return [
    ...shown.flatMap((phase) => [
      [
        paintStatus(phase.status).replace(phase.status, MARKS[phase.status]),
        phase.phase_slug.padEnd(slugs),
        shorten(oneLine(phase.title), titles).padEnd(titles),
        paintStatus(phase.status, 9),
        happening(phase) || spentIn(phase),
      ]
        .join('  ')
        .trimEnd(),
      ...gates.filter((gate) => gate.phase === phase).flatMap((gate) => gateLines(service, board.project.id, gate)),
    ]),
    ...left,
  ];
}

const spentIn = ({ cost_usd, is_priced }: PhaseWithStatus): string =>
  Number(cost_usd) > 0 || !is_priced ? paint('gray', formatCost(cost_usd, is_priced)) : '';

/** Chooses, of many phases, those that are under way or went wrong, and the next ones. */
function phasesToShow(phases: readonly PhaseWithStatus[]): { shown: readonly PhaseWithStatus[]; left: string[] } {
  if (phases.length <= MAX_PHASES) return { shown: phases, left: [] };
  const of = (...statuses: TaskStatus[]) => phases.filter(({ status }) => statuses.includes(status));
  const busy = of('running', 'blocked', 'review', 'failed').slice(0, MAX_PHASES - 3);
  const next = of('pending').slice(0, 3);
  const shown = phases.filter((phase) => busy.includes(phase) || next.includes(phase));
  const counts = (Object.keys(MARKS) as TaskStatus[])
    .map((status) => ({ status, count: of(status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status}`);
  return { shown, left: [paint('gray', `${phases.length} phases: ${counts.join(', ')}`)] };
}

/** @returns for example `write (attempt 2), review` */
const happening = ({ steps }: PhaseWithStatus): string =>
  steps
    .filter(({ status }) => ['running', 'blocked', 'failed'].includes(status))
    .map(({ step_slug, status, attempt_count, error }) => {
      if (status === 'failed')
        return paint('red', shorten(`${step_slug}: ${withoutCode(oneLine(error ?? 'failed'))}`, 80));
      return attempt_count > 0 ? `${step_slug} (attempt ${attempt_count})` : step_slug;
    })
    .join(', ');

/** @returns whom the gate waits for, what it asks, and the command that answers it */
export function gateLines(service: ServiceClient, projectId: string, gate: PlacedStep): string[] {
  const { waitsFor, command } = helpWith(service, projectId, gate);
  const prompt = promptOf(gate);
  return [
    `   ${paint('yellow', `${gate.step_slug} ${waitsFor}`)}${prompt ? `: ${prompt}` : ''}`,
    ...(command ? [`     ${paint('bold', command)}`] : []),
  ];
}

const TRY_AGAIN = 'Tried again (--addendum says what to do differently), it goes on with:';
const AFTER_CRASH = 'It died without an outcome. When what it may have done is in order:';
/** Advice that is printed before the commands that try failed steps again. */
const ADVICE: Partial<Record<PauseReason, string>> = {
  gate_misconfigured: 'When what the gate names is there (else start again from a corrected workflow):',
  repeat_crash: AFTER_CRASH,
  nonidempotent_crash: AFTER_CRASH,
};

/**
 * @returns why the project does not go on, and the commands that make it go on
 * @param error is the text with which the pause was recorded
 */
export function pauseHelp(board: Board, error?: string): string[] {
  const { id, pause_reason, cost_total_usd, is_priced } = board.project;
  const resume = `  aos project resume ${id}`;
  if (pause_reason === 'requested') return ['a person paused it; it goes on with:', resume];
  if (pause_reason === 'budget_breached') {
    const spent = `${formatCost(cost_total_usd, is_priced)} is spent`;
    return [
      `${oneLine(error ?? 'the budget would be exceeded')}; ${spent}`,
      'With a larger one it goes on:',
      `${resume} --budget <usd>`,
    ];
  }
  const failed = stepsOf(board).filter(({ status }) => status === 'failed');
  return [
    ...failed.map((step) => `${step.place}: ${withoutCode(oneLine(step.error ?? 'failed'))}`),
    (pause_reason && ADVICE[pause_reason]) ?? TRY_AGAIN,
    ...failed.map(({ place }) => `  aos project retry ${id} ${place}`),
    resume,
  ];
}
