/** Everything that a reply of the offline model is composed from. */
import type { OfflineRole } from './role.ts';
import type { StepPrompt } from './step-prompt.ts';
import type { Subject } from './subject.ts';

export interface Material {
  subject: Subject;
  role: OfflineRole;
  /** The request as it was sent, without directives. */
  request: string;
  /** Undefined for a run that is no step of a project. */
  step: StepPrompt | undefined;
  /** A reviewer rejects for this reason; without one everything is approved. */
  rejection: string | undefined;
  /** What the tools answered since the request. */
  toolAnswers: readonly string[];
  /** What memories say that the system prompt holds. */
  remembered: readonly string[];
  /** Earlier requests of the conversation, the oldest first. */
  earlier: readonly string[];
  /** What became of directives that could not be carried out. */
  notes: readonly string[];
}
