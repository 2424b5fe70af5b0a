/**
 * Texts that are slow to read, where no endpoint leads: in replies of models, arguments and results of tools, memories
 * and skills that a run begins with, and what the built-in actions make pages and drawings of.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../src/platform/core/present.ts';
import { findAction } from '../../src/resources/actions/builtin/index.ts';
import { runAction } from '../../src/resources/actions/builtin/run-action.ts';
import { someTexts, type HostileText } from '../support/security/hostile-texts.ts';
import { answer, answerIn, callTools, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { agentStep, makeTemplate, phaseSpec, projectOf, startProject } from '../support/fixtures/projects.ts';
import { standInForEmbeddings } from '../support/service/embeddings.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { sized } from '../support/runner/sizes.ts';
import { findStalls, watchOwnLoop } from '../support/observability/stall-oracle.ts';
import { CASES, contextOf } from '../resources/actions/context.ts';

/** Beside those that were slow once. */
const OTHERS = sized(1, 20);
/** A reader in quadratic time is over the limit with it, and not yet at it for minutes. */
const LENGTH = 40_000;
/** In the thread where an action works, what is quadratic may take its time, but a test has not all of it. */
const ACTION_LENGTH = 20_000;
/** Where something is slow it is done again and again, on a busy machine too. */
const TIMEOUT_MS = 300_000;

let provider: OpenAiServer;
let service: TestService;
let tenant: Tenant;
let loop: ReturnType<typeof watchOwnLoop>;

beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: {
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      RUN_MAX_TOKENS: '1000000000',
    },
  });
  tenant = await service.tenant('acc_content', 'scale');
  const agent = {
    prompt: 'You help.',
    description: '',
    allowed_tool_slugs: ['result', 'load_skill', ...TOOLS.map(({ slug }) => slug)],
  };
  for (const model of ['offline', 'scripted'])
    await made(tenant.cp('POST', '/v1/agents', { slug: model, model, ...agent }));
  standInForEmbeddings(service);
  loop = watchOwnLoop();
});
afterAll(async () => {
  loop?.stop();
  await service?.close();
  await provider?.close();
});

async function made(answer: ReturnType<Tenant['cp']>) {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`not made: ${status} ${JSON.stringify(body).slice(0, 500)}`);
  return body;
}

/** Text arguments of tools that ask nobody and wait for nobody. */
const TOOLS: readonly { slug: string; args: (text: string) => object }[] = [
  { slug: 'calculator', args: (text) => ({ expression: text }) },
  { slug: 'memory_search', args: (text) => ({ query: text }) },
  { slug: 'memory_write', args: (text) => ({ type: 'note', content: text }) },
  { slug: 'save_artifact', args: (text) => ({ name: 'a', content: text }) },
  { slug: 'http_request', args: (text) => ({ url: `https://example.invalid/${text}` }) },
  { slug: 'current_time', args: (text) => ({ time_zone: text }) },
];

/** What is done with one text; a refusal of the text is as good as anything else, but the run has to end. */
type Way = (text: string) => Promise<unknown>;

async function byOffline(prompt: string): Promise<void> {
  const { status, body } = await tenant.api('POST', '/v1/runs', { agent: 'offline', prompt });
  // Nothing but blanks is no prompt.
  if (status === 201) await tenant.waitForRun(body.run_id);
}
const byScripted = (...replies: Parameters<OpenAiServer['script']>) => {
  provider.reset();
  provider.otherwise(answer('Done.'));
  provider.script(...replies);
  return tenant.run({ agent: 'scripted', prompt: 'Go on.' });
};

const WAYS: Readonly<Record<string, Way>> = {
  'the prompt of a run': byOffline,
  'the reply of a model': (text) => byScripted(answerIn([text])),
  'the reply of a model, in pieces': (text) => byScripted(answerIn(text.match(/[^]{1,100}/g) ?? [])),
  async 'the result of a tool'(text) {
    const tool = {
      slug: 'result',
      description: 'Gives it.',
      kind: 'stub',
      schema: { type: 'object' },
      body: { result: text },
    };
    await made(tenant.cp('POST', '/v1/tools', tool));
    await byOffline('[[tool:result {}]] Go on.');
    await tenant.cp('DELETE', '/v1/tools/result?force=true');
  },
  async 'a memory that is always loaded'(text) {
    const content = text.slice(0, 20_000);
    await tenant.cp('POST', '/v1/memory/entries', { type: 'note', content, always_load: true });
    await byOffline('Go on.');
    // The endpoint asks for a code each time.
    await service.runtime.db.rows(sql`update memory_entries set always_load = false`);
  },
  async 'a skill'(text) {
    const skill = { slug: 'skilled', name: 'A skill', prompt_addendum: text };
    const { status } = await tenant.cp('POST', '/v1/skills', skill);
    await byOffline('[[tool:load_skill {"slug": "skilled"}]] Go on.');
    if (status === 201) await tenant.cp('DELETE', '/v1/skills/skilled?force=true');
  },
  ...Object.fromEntries(
    TOOLS.map(({ slug, args }): [string, Way] => [
      `an argument of ${slug}`,
      (text) => byScripted(callTools({ id: 'call', name: slug, arguments: args(text) })),
    ]),
  ),
};

const told = (stalls: Awaited<ReturnType<typeof findStalls<HostileText>>>) =>
  stalls.map(({ work, ms }) => `${work.name}: ${ms} ms`);

describe.each(Object.keys(WAYS))('%s', (name) => {
  // Guards: nothing that a model, a tool or a workspace says stops everybody else's runs.
  test(
    'is read in time',
    async () => {
      const texts = someTexts(OTHERS, Object.keys(WAYS).indexOf(name));
      const doAll = async (some: readonly HostileText[]) => {
        for (const { make } of some) await present(WAYS[name])(make(LENGTH));
      };
      expect(told(await findStalls(loop, texts, doAll))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

/** Every text in what an action is given, one after the other in the place of what is there. */
function* withText(
  given: unknown,
  text: string,
  way: readonly string[] = [],
): Generator<{ at: string; given: unknown }> {
  if (typeof given === 'string') yield { at: way.join('.'), given: way.at(-1) === 'svg' ? drawingOf(text) : text };
  else if (typeof given === 'object' && given !== null) {
    for (const [key, value] of Object.entries(given)) {
      for (const { at, given: changed } of withText(value, text, [...way, key])) {
        const whole = Array.isArray(given) ? given.with(Number(key), changed) : { ...given, [key]: changed };
        yield { at, given: whole };
      }
    }
  }
}

/** With the text as an attribute and as words. */
const drawingOf = (text: string): string => {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  return `<svg viewBox="0 0 9 9"><path fill="${escaped}" d="M0 0"/><text>${text}</text><circle r="1"/></svg>`;
};

describe.each(Object.keys(CASES))('%s', (name) => {
  // Guards: nothing that a step wrote stops everybody else while a page or a drawing is made of it.
  test(
    'makes something of every text in time',
    async () => {
      const { inputs = {}, artifacts = {}, ...given } = present(CASES[name]).given;
      const texts = someTexts(OTHERS, Object.keys(CASES).indexOf(name));
      const work = texts.flatMap(({ name: what, make }, nth) => {
        const places = [...withText({ inputs, artifacts }, make(ACTION_LENGTH))];
        // A drawing takes every text: it is read by more code than words are.
        const tried = places.filter(({ at }, i) => i === nth % places.length || at.endsWith('.svg'));
        return tried.map(({ at, given: changed }) => ({
          name: `${at}: ${what}`,
          do: () => runAction(present(findAction(name)), contextOf({ ...given, ...(changed as object) })),
        }));
      });
      const doAll = async (some: readonly (typeof work)[number][]) => {
        for (const each of some) {
          await each.do().catch(() => {});
          // Between two of them others get their turn, as between two steps.
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const stalls = await findStalls(loop, work, doAll);
      expect(stalls.map(({ work: { name: what }, ms }) => `${what}: ${ms} ms`)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

// Guards: output that a model nested very deeply is judged, and its step is not retried for ever.
test.each([
  ['a list', (levels: number) => '['.repeat(levels) + ']'.repeat(levels)],
  ['an object', (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)],
])('the depth of %s that a model writes', async (what, nest) => {
  const slug = what.replace(/\W/g, '-');
  const output_schema = { type: 'array', uniqueItems: true };
  await makeTemplate(tenant, slug, [phaseSpec('only', [agentStep('nest', { assignee: 'scripted', output_schema })])]);
  provider.reset();
  provider.otherwise(answerIn([`[${nest(2_500)},${nest(2_500)}]`]));
  const id = await startProject(tenant, slug);
  await eventually(async () => {
    const { status } = await projectOf(tenant, id);
    if (!['completed', 'paused'].includes(status)) throw new Error(`it is still ${status}`);
  });
});
