/** A step as it stands when an attempt at it is to begin, with what its prompt is made of. */
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
  /** Milliseconds since it began; of a gate that opens again after its workflow continued as new. */
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
  /** What this dispatch began already, should the activity repeat itself. */
  begun: { attemptId: string; runId: string | null } | null;
  /** Queued by hand. */
  queued: { attemptId: string; number: number; reason: AttemptReason } | null;
  lastNumber: number;
  previous: { output: unknown; error: string | null; status: string } | null;
  artifacts: (StepContext['artifacts'][number] & { isStale: boolean })[];
  inputs: StepContext['inputs'];
  attachments: StepContext['attachments'];
}
