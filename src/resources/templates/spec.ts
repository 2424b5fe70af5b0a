/**
 * Makes a workflow spec of what somebody sent, or says everything that is wrong with it, each fault with its path.
 *
 * The shape of each field and the graph that the fields make are looked at apart, so that a mistake in one step does not
 * hide a cycle somewhere else.
 */
import { z } from 'zod';
import { Problem } from '../../platform/core/problem.ts';
import { isQuick } from '../../platform/core/schema-checks.ts';
import { faultsIn } from '../../platform/http/unknown-fields.ts';
import { runInThread, ThreadLimitError, type Job } from '../../platform/threads/threads.ts';
import { WorkflowSpec as Shape } from './contract.ts';
import {
  isJudge,
  MAX_PHASES,
  MAX_SPEC_BYTES,
  MAX_STEPS,
  stepDependencies,
  type StepSpec,
  type WorkflowSpec,
} from './model.ts';

const MAX_FAULTS = 20;
const MAX_FAULT_LENGTH = 1_000;
const MAX_NAMES = 20;

export type CheckedSpec = { spec: WorkflowSpec } | { faults: string[] };

const job: Job<Record<string, unknown>, CheckedSpec> = {
  module: new URL('./spec.ts', import.meta.url),
  name: 'checkSpec',
  title: 'checking the spec',
  timeoutMs: 20_000,
};

/** Whether the time of an expression ever comes takes some milliseconds to tell. */
const hasCron = (given: Record<string, unknown>): boolean => JSON.stringify(given).includes('"cron":');

/** Does what `checkSpec` does, beside the others where it takes its time. */
export const readSpec = async (given: Record<string, unknown>): Promise<CheckedSpec> =>
  isQuick(given) && !hasCron(given) ? checkSpec(given) : runInThread(job, given).catch(faultOf);

/** @throws Problem bad_request, beginning with `invalid spec: ` */
export async function parseSpec(given: Record<string, unknown>): Promise<WorkflowSpec> {
  const checked = await readSpec(given);
  if ('faults' in checked) throw new Problem('bad_request', `invalid spec: ${checked.faults.join('; ')}`);
  return checked.spec;
}

function faultOf(error: unknown): CheckedSpec {
  if (error instanceof ThreadLimitError) return { faults: [error.message] };
  throw error;
}

/** Does what `parseSpec` does, with as many faults and as much of each as somebody will read. */
export function checkSpec(given: Record<string, unknown>): CheckedSpec {
  if (Buffer.byteLength(JSON.stringify(given)) > MAX_SPEC_BYTES) {
    return { faults: [`larger than ${MAX_SPEC_BYTES} bytes`] };
  }
  const { success, data, error } = Shape.safeParse(given);
  const shapeFaults = faultsIn(Shape, given, error, MAX_FAULTS).map(({ path, message }) => at(path, message));
  const faults = [...shapeFaults, ...graphFaults(given)];
  if (success && faults.length === 0) return { spec: data };
  return { faults: faults.slice(0, MAX_FAULTS).map(shortened) };
}

const shortened = (fault: string): string =>
  fault.length > MAX_FAULT_LENGTH ? `${fault.slice(0, MAX_FAULT_LENGTH)}...` : fault;

/** Words a fault with its path: `phases[2].steps[0].depends_on[1]: unknown step "x"`. */
function at(path: readonly PropertyKey[], message: string): string {
  const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return place ? `${place.replace(/^\./, '')}: ${message}` : message;
}

/**
 * The parts that make the graph are read whatever else is wrong. Lists that are too long are told as such and not
 * looked at.
 */
const slug = z.string().catch('');
const dependsOn = (max: number) => z.array(z.string()).max(max).optional().catch([]);
const Step = z
  .object({ step_slug: slug, kind: slug, role: slug, depends_on: dependsOn(MAX_STEPS) })
  .catch({ step_slug: '', kind: '', role: '', depends_on: [] });
const Graph = z
  .object({
    phases: z
      .array(
        z
          .object({ slug, depends_on: dependsOn(MAX_PHASES), steps: z.array(Step).max(MAX_STEPS).catch([]) })
          .catch({ slug: '', depends_on: [], steps: [] }),
      )
      .max(MAX_PHASES),
  })
  .catch({ phases: [] });

interface Node {
  path: PropertyKey[];
  slug: string;
  dependsOn: readonly string[];
}

function graphFaults(given: unknown): string[] {
  const { phases } = Graph.parse(given);
  const nodes = phases.map(({ slug, depends_on = [] }, at) => ({ path: ['phases', at], slug, dependsOn: depends_on }));
  return [
    ...faultsAmong(nodes, { what: 'phase', field: 'slug', all: 'the phases are', path: ['phases'] }),
    ...phases.flatMap((phase, at) => stepFaults(phase.steps as StepSpec[], ['phases', at, 'steps'])),
  ];
}

function stepFaults(steps: readonly StepSpec[], path: PropertyKey[]): string[] {
  const nodes = steps.map((step, at) => ({
    path: [...path, at],
    slug: step.step_slug,
    dependsOn: stepDependencies(steps, at),
  }));
  const works = ({ kind, role }: StepSpec) =>
    kind !== 'gate' && (role === 'assembler' || role === 'producer' || String(role) === '');
  const workers = new Set(steps.filter(works).map(({ step_slug }) => step_slug));
  const idle = steps.flatMap(({ kind, role, step_slug }, index) =>
    kind !== 'gate' && isJudge(role) && !upstreamOf(nodes, step_slug).some((one) => workers.has(one))
      ? [at([...path, index], `a ${role} needs a producer or assembler step upstream in its phase`)]
      : [],
  );
  return [
    ...faultsAmong(nodes, { what: 'step', field: 'step_slug', all: 'the steps of this phase are', path }),
    ...idle,
  ];
}

interface Words {
  what: string;
  field: string;
  all: string;
  path: PropertyKey[];
}

function faultsAmong(nodes: readonly Node[], { what, field, all, path }: Words): string[] {
  const slugs = nodes.map(({ slug }) => slug);
  const known = new Set(slugs);
  const list = (names: readonly string[]) =>
    names.slice(0, MAX_NAMES).join(', ') + (names.length > MAX_NAMES ? ', ...' : '');
  const faults = nodes.flatMap((node, index) => [
    ...(node.slug !== '' && slugs.indexOf(node.slug) < index
      ? [at([...node.path, field], `there is another ${what} "${node.slug}"`)]
      : []),
    ...node.dependsOn.flatMap((slug, place) => {
      const where = [...node.path, 'depends_on', place];
      if (!known.has(slug)) return [at(where, `unknown ${what} "${slug}"; ${all} ${list(slugs)}`)];
      return slug === node.slug && slugs.indexOf(slug) === index
        ? [at(where, `the ${what} "${slug}" depends on itself`)]
        : [];
    }),
  ]);
  // Two nodes of one name would look like a circle that nobody drew.
  const cycle = known.size === nodes.length ? findCycle(nodes) : undefined;
  return cycle ? [...faults, at(path, `they wait for each other: ${cycle.join(' -> ')}`)] : faults;
}

/** @returns some of the nodes in a circle, each before one that it depends on; the first again at the end */
function findCycle(nodes: readonly Node[]): string[] | undefined {
  let left = new Map(nodes.map(({ slug, dependsOn }) => [slug, dependsOn.filter((other) => other !== slug)]));
  const waiting = (slug: string) => left.get(slug)?.find((other) => left.has(other));
  for (let before = Infinity; left.size < before;) {
    before = left.size;
    left = new Map([...left].filter(([slug]) => waiting(slug) !== undefined));
  }
  // Whatever is left waits for something that is left, so following it comes back sooner or later.
  const way: string[] = [];
  for (let slug = left.keys().next().value; slug !== undefined; slug = waiting(slug)) {
    const seen = way.indexOf(slug);
    way.push(slug);
    if (seen >= 0) return way.slice(seen);
  }
  return undefined;
}

function upstreamOf(nodes: readonly Node[], start: string): string[] {
  const bySlug = new Map(nodes.map((node) => [node.slug, node.dependsOn]));
  const upstream = new Set<string>(bySlug.get(start));
  // A set is walked in order of insertion, which includes what is added on the way.
  for (const slug of upstream) for (const next of bySlug.get(slug) ?? []) upstream.add(next);
  return [...upstream];
}
