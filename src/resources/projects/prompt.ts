/**
 * Writes what the agent of a step is told. This is the one place where the record of a project becomes a prompt. Pure.
 *
 * The task comes first, then the material. Material is quoted under headings and is never an instruction, which the
 * house rules of every built-in agent say too.
 */
import type { JsonSchema } from '../templates/model.ts';
import type { AttemptReason } from './model.ts';

/** Everything that is known when a step begins. */
export interface StepContext {
  project: { title: string; brief: string; params: Record<string, unknown> | null };
  phase: { slug: string; title: string };
  step: { slug: string; title: string; role: string; instructions: string | null; outputSchema: JsonSchema | null };
  reason: AttemptReason;
  /** Instructions that retriggers, edit sessions and retries by hand added, oldest first. */
  addenda: readonly string[];
  /** What reviewers, testers and gates said of the step's earlier output. */
  feedback: readonly string[];
  /** The latest attempt, where its output is to be improved on. */
  previous: { output: unknown; error: string | null } | null;
  /** Current artifacts of the phases that its phase depends on. */
  artifacts: readonly { phaseSlug: string; version: number; content: unknown }[];
  /** Outputs of the steps before it in its phase. The output of a gate is the decision, with comment and payload. */
  inputs: readonly { stepSlug: string; title: string; output: unknown }[];
  attachments: readonly {
    id: string;
    filename: string;
    contentType: string;
    sizeBytes: number;
    reading?: string | null;
  }[];
}

/** The limit of one piece of material, in characters. The agent can read the rest with a tool. */
const MAX_MATERIAL = 40_000;

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

const material = (value: unknown, rest: string): string => {
  const text = asText(value);
  if (text.length <= MAX_MATERIAL) return text;
  return `${text.slice(0, MAX_MATERIAL).toWellFormed()}\n\n(${text.length - MAX_MATERIAL} more characters; ${rest})`;
};

const section = (title: string, body: string): string => `## ${title}\n\n${body.trim()}`;

export function stepPrompt(context: StepContext): string {
  const { project, phase, step, addenda, feedback, previous, artifacts, inputs, attachments } = context;
  const params = Object.entries(project.params ?? {});
  const sections = [
    step.instructions?.trim() || `Do the step "${step.title}" of the phase "${phase.title}".`,
    addenda.length > 0 && section('Also do this', addenda.join('\n\n')),
    section('Project', `**${project.title}**, phase "${phase.title}", step "${step.title}"`),
    section('Brief', project.brief),
    params.length > 0 && section('Parameters', params.map(([name, value]) => `- ${name}: ${asText(value)}`).join('\n')),
    feedback.length > 0 &&
      section(
        'Feedback on your earlier work',
        `${feedback.map((text) => `- ${text}`).join('\n')}\n\nSettle every point, and keep what was not objected to.`,
      ),
    previous?.error && section('What went wrong the last time', previous.error),
    previous?.output != null &&
      section('Your earlier output', material(previous.output, 'it is cut here, write it anew as a whole')),
    ...artifacts.map(({ phaseSlug, version, content }) =>
      section(
        `Upstream artifact: ${phaseSlug} (version ${version})`,
        material(content, `read them with read_artifact {"phase_slug": "${phaseSlug}", "offset": ${MAX_MATERIAL}}`),
      ),
    ),
    ...inputs.map(({ stepSlug, title, output }) =>
      section(`Context: output of step ${stepSlug} (${title})`, material(output, 'not shown')),
    ),
    attachments.length > 0 &&
      section(
        'Attachments (read them with read_attachment)',
        attachments
          .map(({ id, filename, contentType, sizeBytes, reading }) =>
            [`- ${filename}`, contentType, `${sizeBytes} bytes`, ...(reading ? [reading] : []), `id ${id}`].join(', '),
          )
          .join('\n'),
      ),
    step.outputSchema &&
      section(
        'Output',
        `Answer with one JSON value of this schema and nothing else:\n\n${JSON.stringify(step.outputSchema)}`,
      ),
  ];
  return sections.filter(Boolean).join('\n\n');
}
