/**
 * Texts that once stalled a process for seconds to minutes, at ten and more times the size. Of these, time is the point:
 * each takes milliseconds now and took minutes before, and so the limits are generous.
 */
import { afterAll, expect, test } from '@jest/globals';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { present } from '../../src/platform/core/present.ts';
import { countTokensOf } from '../../src/platform/models/token-counts.ts';
import { countTokens } from '../../src/platform/models/tokens.ts';
import { PACKAGED } from '../../src/platform/models/embed-packaged.ts';
import { createOfflineModel } from '../../src/platform/models/offline.ts';
import { checkValue } from '../../src/platform/core/json-schema.ts';
import { findSchemaProblem, findValueProblem } from '../../src/platform/core/schema-checks.ts';
import { closeThreads } from '../../src/platform/threads/threads.ts';
import { createBeginnings } from '../../src/resources/agent-context/beginning.ts';
import { ActionError } from '../../src/resources/actions/builtin/action.ts';
import { findAction } from '../../src/resources/actions/builtin/index.ts';
import { runAction } from '../../src/resources/actions/builtin/run-action.ts';
import { readDrawing } from '../../src/resources/actions/builtin/rendering/svg.ts';
import { contextOf } from '../resources/actions/context.ts';
import { cpuMsOf } from '../support/observability/effort.ts';

afterAll(closeThreads);

const LIMIT_MS = 3_000;
const spaces = ' '.repeat(500_000);

/** By the clock, to be held against how long the event loop stood still by the same clock. */
async function timeOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const asked = (text: string, system = '') =>
  createOfflineModel(() => 1).doGenerate({
    prompt: [
      { role: 'system', content: system },
      { role: 'user', content: [{ type: 'text', text }] },
    ],
  });

// Guards against: a prompt of the largest accepted size, made so that reading it takes quadratic time.
test.each([
  ['a heading of spaces', `# a${spaces}b`],
  ['a tag without an end', `<${'a'.repeat(500_000)}`],
  ['a heading in spaces', `${spaces}# x`],
  ['directives without an end', '[[tool:x {'.repeat(50_000)],
  ['brackets', '[['.repeat(250_000)],
])('the offline model answers to %s', async (_, text) => {
  expect(await cpuMsOf(() => asked(text))).toBeLessThan(LIMIT_MS);
});

// Guards: memories are removed from a text in one pass; the rest was once read again for each tag without an end.
test('the offline model skips memories without an end', async () => {
  expect(await cpuMsOf(() => asked('hello', '<memory '.repeat(50_000)))).toBeLessThan(LIMIT_MS);
});

// Guards: fencing a memory takes time in proportion to its length.
test('memories of spaces are told', async () => {
  const memory = { id: 1, type: 'note', name: 'n', content: `<${spaces.slice(0, 19_998)}x` };
  const always = Array.from({ length: 200 }, (_, id) => ({ ...memory, id }));
  const loadBeginning = createBeginnings({
    store: { listAlwaysLoaded: async () => always, recallEntries: async () => [], areVectorsOf: async () => true },
    models: {
      embed: async () => [],
      embedding: { ...PACKAGED, languages: null, scripts: null, near: 0.5, reads: () => true },
    },
    skillSection: async () => ({ text: '', loaded: [] }),
    settings: { MEMORY_RECALL_COUNT: 0, MEMORY_RECALL_THRESHOLD: 0.5 },
    log: { warn() {} } as never,
  });
  const request = { customerId: 'acme', agent: 'writer', prompt: 'Hi', stepSkills: undefined, hasEntries: true };
  // Two are all that is told of them. By the square of their length it took 900 ms, far below the limit of the others.
  const times: number[] = [];
  for (let i = 0; i < 3; i++) times.push(await cpuMsOf(() => loadBeginning(request)));
  expect(Math.min(...times)).toBeLessThan(400);
});

// Guards: each attribute of a drawing is read once.
test('a drawing of spaces is read', async () => {
  const svg = `<svg><path d="#a${spaces.slice(0, 250_000)}x"/></svg>`;
  expect(await cpuMsOf(() => readDrawing(svg, 'p'))).toBeLessThan(LIMIT_MS);
});

/** The longest time, in ms, for which nothing else could happen while the work was done. */
async function stallDuring(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await setTimeout(10);
  await work();
  // What has just been held up is seen when the loop turns again.
  await setTimeout(20);
  delay.disable();
  return delay.max / 1e6;
}

// Guards: work that takes a thread seconds does not block the event loop, as it did for two seconds and more.
test('long work is done elsewhere', async () => {
  // Another one each time: what was counted before is known.
  const noise = (seed: number): string =>
    Array.from({ length: 200_000 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7_919 + seed) % 20_000))).join('');
  const properties = Object.fromEntries(
    Array.from({ length: 150 }, (_, at) => [`p${at}`, { type: 'string', pattern: `^(a{1,30}){1,30}${at}$` }]),
  );
  const schema = { type: 'object', properties };
  const underscores = { write: { content: '_a'.repeat(8_000) } };
  // The first one loads what it needs.
  await countTokensOf('x'.repeat(10_000));
  const work = async (seed: number) => {
    expect(await countTokensOf(noise(seed))).toBeGreaterThan(100_000);
    expect(await findSchemaProblem(schema)).toBeUndefined();
    expect(await findValueProblem(schema, { p1: 'b' }, 'output')).toContain('must match pattern');
    await runAction(present(findAction('render_html_page')), contextOf({ inputs: underscores }));
  };
  const stalls: number[] = [];
  // A busy machine holds up the one or the other.
  for (let i = 0; i < 3; i++) stalls.push(await stallDuring(() => work(i)));
  const stall = Math.min(...stalls);
  const unknown = noise(3);
  expect(stall).toBeLessThan(1_000);
  expect(await timeOf(() => countTokens(unknown))).toBeGreaterThan(stall);
});

/** Of some thousand characters, which are read at once where they have no patterns and no references. */
const patterns = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => [`p${at}`, { pattern: `^(a{1,30}){1,30}${at}$` }]),
);
const same = (to: string) => ({ allOf: Array.from({ length: 40 }, () => ({ $ref: `#/$defs/${to}` })) });
const repeated = { $defs: { a: { pattern: '^(b|c)$' }, b: same('a'), c: same('b') }, items: { $ref: '#/$defs/c' } };

// Guards against: small inputs that are expensive: many patterns to read, or one that references repeat thousands of
// times for each value.
test.each<[string, (n: number) => [schema: Record<string, unknown>, value: unknown]]>([
  ['patterns', (n) => [{ title: `${n}`, properties: patterns }, {}]],
  ['references', (n) => [{ title: `${n}`, ...repeated }, Array.from({ length: 600 }, () => 'b')]],
])('a small schema of %s is checked elsewhere', async (_, made) => {
  const [schema, value] = made(0);
  expect([JSON.stringify(schema).length, JSON.stringify(value).length].filter((size) => size > 5_000)).toEqual([]);
  await findValueProblem(...made(1), 'output');
  // Another process may hold this one up too, but not each time. No schema was seen before.
  const stalls: number[] = [];
  for (const n of [2, 3, 4]) stalls.push(await stallDuring(() => findValueProblem(...made(n), 'output')));
  const stall = Math.min(...stalls);
  const here = await timeOf(() => checkValue(...made(5), 'output'));
  expect(here).toBeGreaterThan(2 * stall);
});

// Guards: an action past its limits is refused with an explanation for the author of the step, and the next one works.
test.each([
  ['too long', '_a'.repeat(300_000), /too long for a page/],
  ['nested', '>'.repeat(20_000), /nested too deeply/],
  ['larger than all that can be worked on', 'a'.repeat(5_000_000), /can work on 4000000 characters/],
])('a text that is %s fails its step alone', async (_, content, message) => {
  const page = present(findAction('render_html_page'));
  const failed = await runAction(page, contextOf({ inputs: { write: { content } } })).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ActionError);
  expect((failed as Error).message).toMatch(message);
  const made = await runAction(page, contextOf({ inputs: { write: { content: '# Fine' } } }));
  expect(made).toMatchObject({ content_type: 'text/html' });
});
