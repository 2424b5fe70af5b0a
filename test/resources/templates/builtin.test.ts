/** The ten workflows that ship: real pipelines that differ, that name only what there is, and that make something. */
import { describe, expect, test } from '@jest/globals';
import { schemaProblem } from '../../../src/platform/core/json-schema.ts';
import { last, present } from '../../../src/platform/core/present.ts';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import { findAction } from '../../../src/resources/actions/builtin/index.ts';
import type { RenderedFile } from '../../../src/resources/actions/builtin/rendering/file.ts';
import { builtinTemplates } from '../../../src/resources/templates/builtin/index.ts';
import {
  artifactStep,
  stepDependencies,
  type StepSpec,
  type WorkflowSpec,
} from '../../../src/resources/templates/model.ts';
import { parseSpec } from '../../../src/resources/templates/spec.ts';
import { parseXml, runAction } from '../actions/context.ts';
import { runOffline } from './offline-pipeline.ts';

const specs = builtinTemplates.map(({ spec }) => spec);
const stepsOf = ({ phases }: WorkflowSpec): StepSpec[] => phases.flatMap(({ steps }) => steps);
const agentsOf = (spec: WorkflowSpec) => stepsOf(spec).filter(({ kind }) => kind === 'agent');

/** Tools that take a store; the others are in the list of built-in tools without one. */
const TOOLS = ['read_artifact', 'read_attachment', 'calculator', 'current_time', 'http_request'];

// Guards: the built-in templates are those of the specification.
test('ships the ten', () => {
  const slugs =
    'content micro-saas blog-post sticker-pack landing-page content-slideshow childrens-book motion-graphics worksheet digital-planner';
  expect(specs.map(({ slug }) => slug)).toEqual(slugs.split(' '));
  for (const { spec, collection, tags } of builtinTemplates) {
    expect(spec.version).toBeGreaterThanOrEqual(1);
    expect(spec.description.length).toBeGreaterThan(80);
    expect(collection).toMatch(/^[a-z]+$/);
    expect(new Set(tags).size).toBe(tags.length);
    expect(tags.length).toBeGreaterThan(2);
  }
});

// Guards: the ten templates differ: no two have the same phases or share a prompt.
test('differ from each other', () => {
  const graphs = specs.map(({ phases }) => JSON.stringify(phases.map(({ slug, depends_on }) => [slug, depends_on])));
  expect(new Set(graphs).size).toBe(specs.length);
  const prompts = specs.flatMap(agentsOf).map(({ instructions }) => instructions);
  expect(new Set(prompts).size).toBe(prompts.length);
  const schemas = specs.flatMap(({ phases }) => phases.map(({ artifact }) => artifact?.schema_slug));
  expect(new Set(schemas).size).toBe(schemas.length);
});

// Guards: each feature of the engine is used by some built-in template.
test('show all that a pipeline can be', () => {
  const steps = specs.flatMap(stepsOf);
  const phases = specs.flatMap((spec) => spec.phases);
  expect(new Set(steps.map(({ gate_kind }) => gate_kind))).toEqual(
    new Set(['human', 'webhook', 'schedule', undefined]),
  );
  expect(new Set(steps.map(({ role }) => role)).size).toBe(6);
  const modes = new Set(phases.map(({ cascade_on_upstream_change: mode }) => mode));
  for (const mode of ['lazy', 'strict', 'none'] as const) expect(modes).toContain(mode);
  const decided = steps.filter(({ gate_kind }) => gate_kind === 'human' || gate_kind === 'webhook');
  expect(new Set(decided.map(({ gate_config }) => gate_config?.on_reject))).toEqual(new Set(['rework', 'pause']));
});

describe.each(specs.map((spec) => [spec.slug, spec] as const))('%s', (slug, spec) => {
  // Guards: a tenant could send each built-in template unchanged.
  test('is a valid spec', async () => {
    expect(await parseSpec(structuredClone(spec) as unknown as Record<string, unknown>)).toMatchObject({ slug });
    expect(spec.phases.length).toBeGreaterThanOrEqual(3);
    expect(spec.phases.length).toBeLessThanOrEqual(7);
    expect(schemaProblem(present(spec.params), { objectOnly: true })).toBeUndefined();
    for (const { artifact } of spec.phases) expect(artifact?.schema_slug).toMatch(new RegExp(`^${slug}/`));
  });

  // Guards: every binding resolves, and every agent has a tool.
  test('names agents, tools and actions that there are', () => {
    for (const { kind, assignee, tools, step_slug } of stepsOf(spec)) {
      if (kind === 'agent') {
        expect([step_slug, builtinAgents.has(present(assignee))]).toEqual([step_slug, true]);
        expect(present(tools).length).toBeGreaterThan(0);
        for (const tool of present(tools)) expect(TOOLS).toContain(tool);
      } else if (kind === 'action')
        expect([step_slug, findAction(present(assignee))?.name]).toEqual([step_slug, assignee]);
    }
  });

  // Guards: nothing that runs by default sends anything out or has an irreversible effect.
  test('has no irreversible step', () => {
    for (const { kind, assignee } of stepsOf(spec))
      if (kind === 'action') expect(present(findAction(present(assignee))).effect).toBe('read');
  });

  // Guards: prompts say what to do in their first line, are of substance, and hold no directive.
  test('has prompts', () => {
    for (const { instructions } of agentsOf(spec)) {
      expect(present(instructions).split('\n', 1)[0]).toMatch(/^[A-Z][^#]+[.:]$/);
      expect(present(instructions).length).toBeGreaterThan(200);
      expect(instructions).not.toMatch(/\[\[|https?:/);
    }
  });

  // Guards: a prompt that mentions an artifact or a parameter is given it.
  test('refers only to what there is', () => {
    for (const phase of spec.phases) {
      for (const { instructions = '' } of phase.steps.filter(({ kind }) => kind === 'agent')) {
        for (const [, named] of instructions.matchAll(/artifacts? of `([a-z-]+)`/g))
          expect(phase.depends_on).toContain(named);
        for (const [, named] of instructions.matchAll(/parameters? `(\w+)`/g))
          expect(present(spec.params).properties).toHaveProperty(present(named));
      }
    }
  });

  // Guards: each template checks quality, and whoever checks can send the work back to a step that can change it.
  test('has its work judged', () => {
    const judges = stepsOf(spec).filter(({ role }) => role === 'reviewer' || role === 'tester');
    expect(judges.length).toBeGreaterThan(0);
    for (const { steps } of spec.phases) {
      const bySlug = new Map(
        steps.map((step, index) => [step.step_slug, { step, before: stepDependencies(steps, index) }]),
      );
      for (const { step, before } of bySlug.values()) {
        if (step.gate_config?.on_reject !== 'rework') continue;
        let nearest = before;
        while (nearest.length > 0 && !nearest.some((one) => isMaker(present(bySlug.get(one)).step)))
          nearest = nearest.flatMap((one) => present(bySlug.get(one)).before);
        expect(nearest.map((one) => present(bySlug.get(one)).step.kind)).toContain('agent');
      }
    }
  });

  // Guards: with only its required parameters each template completes on the offline model, and its result opens.
  test('makes a file on the offline model', async () => {
    const params = Object.fromEntries(
      ((present(spec.params).required as string[]) ?? []).map((name) => [name, PARAMS[name]]),
    );
    const artifacts = await runOffline(spec, {
      title: 'Bees on city roofs',
      brief: 'Why beekeeping on city roofs grows.',
      params,
    });
    expect([...artifacts.keys()].toSorted()).toEqual(spec.phases.map((phase) => phase.slug).toSorted());
    const file = [...artifacts.values()].at(-1) as RenderedFile;
    // The title of the project, or what the offline model makes of its brief.
    expect(file.content).toMatch(/(bees|beekeeping) on city roofs|city roofs/i);
    if (file.content_type === 'text/html') {
      expect(await runAction('check_html', { inputs: { file } })).toMatchObject({ passed: true });
    } else if (file.content_type === 'image/svg+xml') parseXml(file.content);
    else expect(file.filename).toBe('bees-on-city-roofs.md');
    expect(present(artifactStep(last(spec.phases).steps)).kind).toBe('action');
  });
});

const isMaker = ({ role, kind }: StepSpec) => kind !== 'gate' && (role === 'producer' || role === 'assembler');
/** For parameters that nothing sensible can stand in for. */
const PARAMS: Record<string, unknown> = { call_to_action_url: 'https://example.com/start', grade: 'grade 5' };
