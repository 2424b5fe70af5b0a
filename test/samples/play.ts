/**
 * Plays a recorded sample through its workflow without a service: agent steps answer from the recording, actions run,
 * judges send work back, gates approve. Collects every fault that a reader or a validator would find.
 */
import { checkValue } from '../../src/platform/core/json-schema.ts';
import { parseJson } from '../../src/platform/core/json.ts';
import { isRecord } from '../../src/platform/core/record.ts';
import { present } from '../../src/platform/core/present.ts';
import { readDrawing } from '../../src/resources/actions/builtin/rendering/svg.ts';
import { textOf } from '../../src/resources/actions/builtin/rendering/markup.ts';
import { findAction } from '../../src/resources/actions/builtin/index.ts';
import type { SampleLibrary, WorkflowSample } from '../../src/resources/samples/library.ts';
import { builtinTemplates } from '../../src/resources/templates/builtin/index.ts';
import {
  artifactStep,
  isJudge,
  orderPhases,
  outputSchemaOf,
  stepDependencies,
  type PhaseSpec,
  type StepSpec,
} from '../../src/resources/templates/model.ts';

const MOST_ROUNDS = 4;

export interface PlayedSample {
  /** The current artifact of each phase, by slug, in the order of the pipeline. */
  artifacts: Map<string, unknown>;
  /** Every reply of an agent, in the order in which it was given. */
  replies: { place: string; take: number; output: unknown }[];
  faults: string[];
  /** Places that sent work back, as `phase/step`. */
  rejections: string[];
}

/** @returns the steps whose output a step sees: what a gate or a judge let through comes from before them */
function upstreamOf(phase: PhaseSpec, slug: string, found = new Set<string>()): Set<string> {
  const index = phase.steps.findIndex((step) => step.step_slug === slug);
  for (const before of stepDependencies(phase.steps, index)) {
    found.add(before);
    const step = present(phase.steps.find(({ step_slug }) => step_slug === before));
    if (step.kind === 'gate' || isJudge(step.role)) upstreamOf(phase, before, found);
  }
  return found;
}

const isRejected = ({ role }: StepSpec, output: unknown): boolean =>
  isRecord(output) && (role === 'reviewer' ? output.decision === 'rejected' : role === 'tester' && !output.passed);

export async function playSample(library: SampleLibrary, sample: WorkflowSample): Promise<PlayedSample> {
  const { workflow, title, brief, params } = sample;
  const { spec } = present(builtinTemplates.find((each) => each.spec.slug === workflow));
  const played: PlayedSample = { artifacts: new Map(), replies: [], faults: [], rejections: [] };
  const wrongParams = spec.params && checkValue(spec.params, params, 'params');
  if (wrongParams) played.faults.push(wrongParams);

  async function reply(phase: PhaseSpec, step: StepSpec, take: number): Promise<unknown> {
    const place = `${phase.slug}/${step.step_slug}`;
    const schema = outputSchemaOf(phase, step);
    const text = await library.readReply({ workflow, phase: phase.slug, step: step.step_slug, take });
    let output: unknown = text;
    if (schema) {
      try {
        output = parseJson(text);
      } catch {
        played.faults.push(`${place} ${take}: the step has a schema, so its reply must be a .json file`);
      }
      const wrong = checkValue(schema, output, `${place} ${take}`);
      if (wrong) played.faults.push(wrong);
    }
    played.faults.push(...drawingFaults(output, `${place} ${take}`));
    played.replies.push({ place, take, output });
    return output;
  }

  async function runPhase(phase: PhaseSpec): Promise<void> {
    const artifacts = Object.fromEntries((phase.depends_on ?? []).map((slug) => [slug, played.artifacts.get(slug)]));
    const outputs: Record<string, unknown> = {};
    const takes = new Map<string, number>();
    let at = 0;
    for (let rounds = 0; at < phase.steps.length; at += 1) {
      const step = present(phase.steps[at]);
      const slug = step.step_slug;
      if (step.kind === 'gate') outputs[slug] = { decision: 'approved', comment: null, payload: null };
      else if (step.kind === 'agent') {
        takes.set(slug, (takes.get(slug) ?? 0) + 1);
        outputs[slug] = await reply(phase, step, present(takes.get(slug)));
      } else {
        const inputs = Object.fromEntries([...upstreamOf(phase, slug)].map((each) => [each, outputs[each]]));
        outputs[slug] = await present(findAction(present(step.assignee))).run({
          project: { id: 'sample-000000', title, brief, params },
          inputs,
          artifacts,
          instructions: step.instructions ?? null,
          signal: new AbortController().signal,
          fetch: () => Promise.reject(new Error('a sample must not need the network')),
        });
        const schema = outputSchemaOf(phase, step);
        const wrong = schema && checkValue(schema, outputs[slug], `${phase.slug}/${slug}`);
        if (wrong) played.faults.push(wrong);
      }
      if (!isRejected(step, outputs[slug])) continue;
      played.rejections.push(`${phase.slug}/${slug}`);
      rounds += 1;
      if (rounds > MOST_ROUNDS || step.kind === 'action') {
        played.faults.push(`${phase.slug}/${slug} rejects: ${JSON.stringify(outputs[slug])}`);
        continue;
      }
      // The work goes back to the latest producer or assembler before the judge.
      at = phase.steps.slice(0, at).findLastIndex(({ role, kind }) => kind === 'agent' && !isJudge(role)) - 1;
    }
    const last = artifactStep(phase.steps);
    if (last) played.artifacts.set(phase.slug, outputs[last.step_slug]);
  }

  for (const phase of orderPhases(spec)) await runPhase(phase);
  return played;
}

/** Finds drawings that the sanitizer would drop or change, wherever they stand in a reply. */
function drawingFaults(value: unknown, place: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => drawingFaults(item, `${place}[${index}]`));
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, item]) =>
      key === 'svg' && typeof item === 'string'
        ? svgFaults(item, `${place}.${key}`)
        : drawingFaults(item, `${place}.${key}`),
    );
  return [];
}

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;

function svgFaults(svg: string, place: string): string[] {
  const drawing = readDrawing(svg, '');
  if (!drawing) return [`${place}: the sanitizer finds no drawing in it`];
  const clean = textOf(drawing.inner);
  const faults: string[] = [];
  const tags = (text: string) => count(text, /<[a-z]/gi);
  // The root element is not a part of `inner`.
  if (tags(clean) !== tags(svg) - 1)
    faults.push(`${place}: the sanitizer drops ${tags(svg) - 1 - tags(clean)} elements`);
  const attributes = (text: string) => count(text, /\s[\w:-]+="/g);
  const [root = ''] = /<svg[^>]*>/.exec(svg) ?? [];
  const lost = attributes(svg) - attributes(root) - attributes(clean);
  if (lost !== 0) faults.push(`${place}: the sanitizer drops ${lost} attributes`);
  if (!/viewBox="/.test(root) || !/xmlns="/.test(root)) faults.push(`${place}: <svg> needs xmlns and viewBox`);
  const ids = [...svg.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
  if (new Set(ids).size !== ids.length) faults.push(`${place}: two elements have one id`);
  if (svg.trimStart().slice(0, 4) !== '<svg') faults.push(`${place}: something stands before <svg>`);
  if (count(svg, /<(path|rect|circle|ellipse|line|polyline|polygon)\b/g) < 6)
    faults.push(`${place}: fewer than 6 shapes are no drawing`);
  return faults;
}

/** These steps return the approved work as a whole, with what they mended. */
const RETURNS_THE_WHOLE: readonly string[] = [
  'blog-post post/copy-edit',
  'landing-page page/finish',
  'micro-saas build/integrate',
];

/** @returns sentences of eight words or more that stand in the replies of two steps */
export function repeatedSentences({ replies }: Pick<PlayedSample, 'replies'>, workflow: string): string[] {
  const texts = (value: unknown): string[] =>
    typeof value === 'string'
      ? [value]
      : Array.isArray(value)
        ? value.flatMap(texts)
        : isRecord(value)
          ? Object.values(value).flatMap(texts)
          : [];
  const seen = new Map<string, string>();
  const faults: string[] = [];
  for (const { place, output } of replies) {
    if (RETURNS_THE_WHOLE.includes(`${workflow} ${place}`)) continue;
    const sentences = texts(output)
      .filter((text) => !text.startsWith('<svg'))
      .flatMap((text) => text.split(/(?<=[.!?])\s+|\n+/))
      .map((sentence) => sentence.trim())
      .filter((sentence) => sentence.split(/\s+/).length >= 8);
    for (const sentence of new Set(sentences)) {
      const earlier = seen.get(sentence);
      if (earlier !== undefined && earlier !== place) faults.push(`${place} repeats ${earlier}: "${sentence}"`);
      else seen.set(sentence, place);
    }
  }
  return faults;
}
