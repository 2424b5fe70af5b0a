/** A pipeline without its engine: every step in order, agents on the offline model with their own prompts, gates approved. */
import { loadConfig } from '../../../src/platform/core/config.ts';
import { checkValue } from '../../../src/platform/core/json-schema.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { present } from '../../../src/platform/core/present.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { DEFAULT_OUTPUT } from '../../../src/platform/models/output-limit.ts';
import type { Models } from '../../../src/platform/models/types.ts';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import { findAction } from '../../../src/resources/actions/builtin/index.ts';
import { stepPrompt } from '../../../src/resources/projects/prompt.ts';
import { builtinSkills } from '../../../src/resources/skills/builtin/index.ts';
import {
  artifactStep,
  orderPhases,
  outputSchemaOf,
  stepDependencies,
  type PhaseSpec,
  type StepSpec,
  type WorkflowSpec,
} from '../../../src/resources/templates/model.ts';

const secret = 'only-for-this-test-only';
const config = loadConfig({
  DATABASE_URL: 'postgres://localhost/x',
  SESSION_SECRET: secret,
  ADMIN_SECRET: secret,
  SECRETS_KEY: secret,
});

interface Project {
  title: string;
  brief: string;
  params: Record<string, unknown>;
}
type Values = Record<string, unknown>;
/** Hears each output of an agent, also those that are no artifact. */
type Listener = (place: string, output: unknown) => void;

const models: Models = createModels(config, { log: createLog({ level: 'silent', pretty: false }) });

/** What the agent of a step is told before its prompt: its own instructions and those of the skills it is bound to. */
const systemFor = ({ assignee, skills = [] }: StepSpec): string =>
  [
    present(builtinAgents.get(present(assignee))).prompt,
    ...skills.map((slug) => present(builtinSkills.get(slug)).body),
  ].join('\n\n');

async function ask(prompt: string, system: string, outputSchema: Values | undefined): Promise<unknown> {
  const { text } = await models.call({
    resolved: models.resolve({ model: 'auto', prompt: '' }, {}),
    credentials: {},
    system,
    messages: [{ role: 'user', content: prompt }],
    tools: [],
    ...(outputSchema ? { outputSchema } : {}),
    maxOutputTokens: config.MODEL_MAX_OUTPUT_TOKENS ?? DEFAULT_OUTPUT,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
  });
  return outputSchema ? JSON.parse(text) : text;
}

/** @throws Error that names the step whose output does not have its shape */
async function runPhase(phase: PhaseSpec, project: Project, artifacts: Values, hear: Listener): Promise<unknown> {
  const outputs: Values = {};
  for (const [index, step] of phase.steps.entries()) {
    const before = stepDependencies(phase.steps, index);
    const inputs = Object.fromEntries(before.map((slug) => [slug, outputs[slug]]));
    const schema = outputSchemaOf(phase, step);
    const title = step.title ?? step.step_slug;
    if (step.kind === 'gate') outputs[step.step_slug] = { decision: 'approved', comment: null, payload: null };
    else if (step.kind === 'action') {
      outputs[step.step_slug] = await present(findAction(present(step.assignee))).run({
        project: { id: 'p-000000', ...project },
        inputs,
        artifacts,
        instructions: step.instructions ?? null,
        signal: new AbortController().signal,
        fetch: () => Promise.reject(new Error('a pipeline must not need the network')),
      });
    } else {
      const prompt = stepPrompt({
        project,
        phase: { slug: phase.slug, title: phase.title },
        step: {
          slug: step.step_slug,
          title,
          role: step.role,
          instructions: present(step.instructions),
          outputSchema: schema ?? null,
        },
        reason: 'initial',
        addenda: [],
        feedback: [],
        previous: null,
        artifacts: Object.entries(artifacts).map(([phaseSlug, content]) => ({ phaseSlug, version: 1, content })),
        inputs: before.map((stepSlug) => ({ stepSlug, title: stepSlug, output: outputs[stepSlug] })),
        attachments: [],
      });
      outputs[step.step_slug] = await ask(prompt, systemFor(step), schema);
      hear(`${phase.slug}/${step.step_slug}`, outputs[step.step_slug]);
    }
    const output = outputs[step.step_slug] as Values;
    const wrong = schema && checkValue(schema, output, `${phase.slug}/${step.step_slug}`);
    if (wrong) throw new Error(wrong);
    if (step.role === 'tester' && output.passed !== true)
      throw new Error(`${step.step_slug}: ${JSON.stringify(output)}`);
    if (step.role === 'reviewer' && output.decision !== 'approved') throw new Error(`${step.step_slug} rejects`);
  }
  return outputs[present(artifactStep(phase.steps)).step_slug];
}

/** @returns the artifact of each phase, the last one last */
export async function runOffline(
  spec: WorkflowSpec,
  project: Project,
  hear: Listener = () => {},
): Promise<Map<string, unknown>> {
  const made = new Map<string, unknown>();
  for (const phase of orderPhases(spec)) {
    const before = Object.fromEntries((phase.depends_on ?? []).map((slug) => [slug, made.get(slug)]));
    made.set(phase.slug, await runPhase(phase, project, before, hear));
  }
  return made;
}
