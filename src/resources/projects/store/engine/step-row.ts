/** The row of a step when an attempt at it is about to begin, with the material of its prompt. */
import type { GateKind, JsonSchema, StepRole, StepKind } from '../../../templates/model.ts';
import type { AttemptReason, TaskStatus } from '../../model.ts';
import type { StepContext } from '../../prompt.ts';

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
  brief: string;
  params: Record<string, unknown> | null;
  /** The project was started from a recorded sample. */
  isSample: boolean;
  /** The attempt that this dispatch began, where the activity is repeated. */
  begun: { attemptId: string; runId: string | null } | null;
  /** The attempt that a person queued. */
  queued: { attemptId: string; number: number; reason: AttemptReason } | null;
  lastNumber: number;
  previous: { output: unknown; error: string | null; status: string } | null;
  artifacts: (StepContext['artifacts'][number] & { isStale: boolean })[];
  inputs: StepContext['inputs'];
  attachments: StepContext['attachments'];
}
