/**
 * Everything that the built-in templates have in common, so that a file beside this one holds only its own pipeline.
 */
import type { BuiltinTemplate, GateKind, JsonSchema, PhaseSpec, StepSpec } from '../model.ts';

/** A step of a project reads with these: earlier artifacts in full, and the files that came with the brief. */
const MATERIAL: readonly string[] = ['read_artifact', 'read_attachment'];

// ---- Schemas: every property is required, nothing else is allowed ----------------------------------------------------

export const text = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  minLength: 1,
  description,
  ...more,
});
export const number = (description: string, minimum: number, maximum: number): JsonSchema => ({
  type: 'number',
  description,
  minimum,
  maximum,
});
export const integer = (description: string, minimum: number, maximum: number): JsonSchema => ({
  ...number(description, minimum, maximum),
  type: 'integer',
});
export const choice = (description: string, values: readonly string[]): JsonSchema => ({
  type: 'string',
  enum: values,
  description,
});
export const list = (items: JsonSchema, description: string, minItems = 1, maxItems = 60): JsonSchema => ({
  type: 'array',
  description,
  minItems,
  maxItems,
  items,
});
export const object = (properties: Record<string, JsonSchema>, description?: string): JsonSchema => ({
  type: 'object',
  ...(description ? { description } : {}),
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});
const colour = (description: string, example: string): JsonSchema =>
  text(description, { pattern: '^#[0-9a-fA-F]{6}$', examples: [example] });

/** @param examples a set of colours that go together */
export const palette = (examples: { background: string; ink: string; accent: string }): JsonSchema =>
  object(
    {
      background: colour('Behind the text', examples.background),
      ink: colour('Of the text: at least 4.5 to 1 on the background', examples.ink),
      accent: colour('Of buttons, marks and shapes', examples.accent),
    },
    'Hex colours with six digits',
  );

/** A rendering action makes such a file. */
const FILE = object({
  filename: text('With extension'),
  content_type: text('Media type'),
  content: text('The whole file'),
});
export const file = (schema_slug: string): PhaseSpec['artifact'] => ({ schema_slug, json_schema: FILE });

/** @param required names of parameters that nothing sensible can stand in for */
export const params = (properties: Record<string, JsonSchema>, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
export const LANGUAGE = text('Language tag of the result, such as en or de-CH. By default the language of the brief.', {
  maxLength: 35,
});

// ---- Steps -----------------------------------------------------------------------------------------------------------

type Rest = Partial<Omit<StepSpec, 'step_slug' | 'kind' | 'assignee'>>;

/** Makes a producer, unless `rest` says otherwise. */
export const agent = (step_slug: string, assignee: string, { instructions = '', ...rest }: Rest): StepSpec => ({
  step_slug,
  kind: 'agent',
  role: 'producer',
  assignee,
  tools: [...MATERIAL],
  timeout_s: 900,
  ...rest,
  instructions: instructions.trim(),
});

/** Makes the step whose output is the artifact of its phase, unless `rest` says otherwise. */
export const action = (step_slug: string, assignee: string, rest: Rest = {}): StepSpec => ({
  step_slug,
  kind: 'action',
  role: 'assembler',
  assignee,
  timeout_s: 120,
  ...rest,
});

export const gate = (
  step_slug: string,
  gate_kind: GateKind,
  gate_config: Record<string, unknown>,
  rest: Rest = {},
): StepSpec => ({ step_slug, kind: 'gate', role: 'gatekeeper', gate_kind, gate_config, ...rest });

// ---- Texts that several templates share
// ---------------------------------------------------------------------------------

export const SVG_RULES = `
Rules for the SVG:

- One complete \`<svg>\` element with \`xmlns\` and a \`viewBox\`. Nothing before or after it.
- Shapes only: path, rect, circle, ellipse, line, polyline, polygon, g, defs, gradients, clipPath, and few words as text.
- Colours as attributes (\`fill="#..."\`). No style sheet, script, animation, filter, photograph, link or font file.
- It reads at the size of a thumb: a clear silhouette, few colours, no detail thinner than a hundredth of the width.`;

type Definition = Pick<BuiltinTemplate, 'collection' | 'tags'> & Omit<BuiltinTemplate['spec'], 'version'>;

/** Makes a template. A later version is another row beside this one: raise the number when a pipeline changes. */
export const defineTemplate = ({ collection, tags, ...spec }: Definition, version = 1): BuiltinTemplate => ({
  collection,
  tags,
  spec: { ...spec, version },
});
