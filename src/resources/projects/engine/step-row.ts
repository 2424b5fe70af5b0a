/** The row of a step when an attempt at it is about to begin, with the material of its prompt. */
import type { Effort } from '../../../platform/core/effort.ts';
import type { GateKind, JsonSchema, StepRole, StepKind } from '../../templates/model.ts';
import type { Actor, AttemptReason, TaskStatus } from '../model.ts';
import type { StepContext } from '../prompt.ts';
import type { ApprovalBefore, GateBefore } from './consumed.ts';

export interface StepRow {
  subtaskId: string;
  taskId: string;
  stepSlug: string;
  title: string;
  kind: StepKind;
  role: StepRole;
  status: TaskStatus;
  assignee: string | null;
  instructions: string | null;
  tools: string[];
  skills: string[];
  outputSchema: JsonSchema | null;
  effort: Effort | null;
  timeoutS: number | null;
  gateKind: GateKind | null;
  gateConfig: Record<string, unknown> | null;
  /** Milliseconds since the step began. It matters for a gate that opens again after its workflow continued as new. */
  elapsedMs: number;
  /** The time by the clock of the database, as workers' clocks may differ. */
  nowMs: number;
  feedback: string[];
  addendum: string | null;
  nextReason: AttemptReason | null;
  taskReason: AttemptReason;
  taskAddenda: string[];
  phaseSlug: string;
  phaseTitle: string;
  iteration: number;
  taskStatus: TaskStatus;
  /** Every step that it depends on is done, and no step of its phase has failed. */
  isReady: boolean;
  brief: string;
  params: Record<string, unknown> | null;
  /** The project was started from a recorded sample. */
  isSample: boolean;
  /** The attempt that this dispatch began, where the activity is repeated. */
  begun: { attemptId: string; runId: string | null } | null;
  /** The attempt that a person queued. */
  queued: { attemptId: string; number: number; reason: AttemptReason; by: Actor | null } | null;
  /** The gates that it is behind in its phase, and the phases of gates alone that its phase is behind. */
  gates: GateBefore[];
  approvals: ApprovalBefore[];
  lastNumber: number;
  previous: { output: unknown; error: string | null; status: string } | null;
  artifacts: (StepContext['artifacts'][number] & { isStale: boolean })[];
  inputs: StepContext['inputs'];
  attachments: StepContext['attachments'];
}
