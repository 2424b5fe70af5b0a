/**
 * A run of 20 turns: 2,000 tokens of tools and system text, a call of one tool in each turn, and 500 tokens more in each
 * request. What a provider that bills its cache bills, what is booked, and the own time of a turn: from the end of a reply
 * until the next request is there. Bare: a workflow of 20 activities that ask the same provider.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { present } from '../../src/platform/core/present.ts';
import { fieldsOf } from '../../src/platform/core/record.ts';
import { runWorkflowId } from '../../src/resources/runs/model.ts';
import { costOf, costWithoutCache, PRICE, type BilledTokens } from '../support/fakes/anthropic-bills.ts';
import { createBilledAnthropic, createBilledChat, type BilledReplies } from '../support/fakes/billed-replies.ts';
import { alikeIn } from '../support/fakes/chat-bills.ts';
import { startOpenAiServer, type OpenAiServer, type Reply } from '../support/fakes/openai-server.ts';
import { quietPort } from '../support/processes/ports.ts';
import { ownCpuMs } from './load.ts';
import { addCpu, cpuOf, noCpu } from './processes.ts';
import { alone, compared, percentile, sum, type Row, type Target } from './report.ts';
import { cpuRows } from './sections.ts';
import { startFloor, startProduct, type Product, type System } from './systems.ts';

const TURNS = 20;
const CLAUDE = 'claude-haiku-4-5';
const COMPATIBLE = 'scripted';
const PROVIDERS = [
  { provider: 'Anthropic', agent: 'turns-claude', model: CLAUDE, replying: () => createBilledAnthropic(CLAUDE) },
  { provider: 'a compatible server', agent: 'turns-chat', model: COMPATIBLE, replying: createBilledChat },
];
const SKILL = { slug: 'rules', name: 'Rules', description: 'The rules of the house' };
const PROMPT = 'Lay the table.';

interface Measured {
  ownMs: number[];
  /** US dollars of all runs. */
  billed: number;
  uncached: number;
  booked: number;
  /** Bytes that a model is told: in all, in requests that another one follows, and of those what the next one begins with. */
  told: number;
  before: number;
  repeated: number;
  cpu: ReturnType<typeof noCpu>;
  clientCpuMs: number;
  /** Turns, for what is told of each. */
  runs: number;
}

const none = (): Measured => ({
  ownMs: [],
  billed: 0,
  uncached: 0,
  booked: 0,
  told: 0,
  before: 0,
  repeated: 0,
  cpu: noCpu(),
  clientCpuMs: 0,
  runs: 0,
});

export async function turns({ folder, turnRuns }: { folder: string; turnRuns: number }): Promise<Row[]> {
  const server = await startOpenAiServer();
  const place = { dataDir: join(folder, 'turns'), port: await quietPort(), settings: await settings(server, folder) };
  const product = await startProduct(place);
  const bare = await startFloor(join(folder, 'bare-turns'));
  try {
    await makeAgents(product);
    const rows: Row[] = [];
    for (const { provider, agent, replying } of PROVIDERS) {
      const [ours, theirs] = [none(), none()];
      // In turns, so that a drift of the machine meets both. The first of each does not count.
      for (let run = -1; run < turnRuns; run++) {
        const counts = run >= 0;
        await ofProduct(product, agent, { server, replies: replying() }, counts ? ours : none());
        const ask = () => bare.acceptTurns(TURNS, server.baseUrl);
        await measured(bare, ask, { server, replies: replying() }, counts ? theirs : none());
      }
      rows.push(...rowsOf(provider, ours, theirs));
    }
    return rows;
  } finally {
    await product.stop();
    await bare.stop();
    await server.close();
  }
}

async function settings(server: OpenAiServer, folder: string): Promise<Record<string, string>> {
  const prices = join(folder, 'prices.json');
  const price = { input_usd_per_mtok: PRICE.input, output_usd_per_mtok: PRICE.output };
  await writeFile(prices, JSON.stringify({ [COMPATIBLE]: { ...price, cache_read_usd_per_mtok: PRICE.read } }));
  return {
    ANTHROPIC_API_KEY: 'sk-ant-bench',
    ANTHROPIC_BASE_URL: server.baseUrl,
    OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
    OPENAI_COMPATIBLE_MODEL: COMPATIBLE,
    MODEL_PRICES: prices,
    RUN_MAX_TURNS: String(TURNS),
  };
}

async function makeAgents(product: Product): Promise<void> {
  const agents = PROVIDERS.map(({ agent }) => agent);
  await product.command('/skills', { ...SKILL, agents, prompt_addendum: 'Lay it from the left. '.repeat(88) });
  for (const { agent: slug, model } of PROVIDERS) {
    const prompt = 'You lay tables, and you are careful with glass. '.repeat(150);
    await product.command('/agents', { slug, model, prompt, allowed_tool_slugs: ['calculator', 'current_time'] });
  }
}

interface Side {
  server: OpenAiServer;
  replies: BilledReplies;
}

async function ofProduct(product: Product, agent: string, side: Side, into: Measured): Promise<void> {
  const workflowId = await measured(
    product,
    async () => runWorkflowId(present((await product.command('/runs', { agent, prompt: PROMPT })).run_id)),
    side,
    into,
  );
  const runId = workflowId.replace(runWorkflowId(''), '');
  into.booked += Number(fieldsOf(await product.read(`/runs/${runId}/summary`)).cost_usd);
  const { billed, toldIn } = side.replies;
  const total = (of: (tokens: BilledTokens) => number) => sum(billed.map(of));
  into.billed += total(costOf);
  into.uncached += total(costWithoutCache);
  const requests = side.server.requests.map(({ body }) => toldIn(body));
  if (requests.length !== TURNS) throw new Error(`a run of ${TURNS} turns made ${requests.length} requests`);
  into.told += sum(requests.map(bytesOf));
  for (const [at, after] of requests.slice(1).entries()) {
    const before = present(requests[at]);
    into.before += bytesOf(before);
    into.repeated += bytesOf(before.slice(0, alikeIn(before, after)));
  }
}

const bytesOf = (pieces: readonly string[]): number => Buffer.byteLength(pieces.join(''));

/** @returns the id of the workflow */
async function measured(
  system: System,
  ask: () => Promise<string>,
  { server, replies }: Side,
  into: Measured,
): Promise<string> {
  const [came, over]: [number[], number[]] = [[], []];
  const timed =
    (reply: Reply): Reply =>
    (response, request) => {
      came.push(performance.now());
      reply(response, request);
      over.push(performance.now());
    };
  server.reset();
  const calls = Array.from({ length: TURNS - 1 }, (_, turn) =>
    replies.call(`c${turn}`, 'load_skill', { slug: SKILL.slug }),
  );
  server.script(...[...calls, replies.end('Laid.')].map(timed));
  const [from, ownFrom] = [cpuOf(system.roots), ownCpuMs()];
  const workflowId = await ask();
  await system.result(workflowId);
  addCpu(into.cpu, from, cpuOf(system.roots));
  into.clientCpuMs += ownCpuMs() - ownFrom;
  into.runs += TURNS;
  into.ownMs.push(...came.slice(1).map((at, turn) => at - present(over[turn])));
  return workflowId;
}

function rowsOf(provider: string, ours: Measured, theirs: Measured): Row[] {
  const runs = ours.runs / TURNS;
  const inTokens = (usd: number) => (usd * 1_000_000) / PRICE.input / runs;
  const own = (p: number, target?: Target): Row => {
    const [mine, bare] = [percentile(ours.ownMs, p), percentile(theirs.ownMs, p)];
    return { ...compared('', 'ms', mine, bare), ...alone(`Own time of a turn, p${p}`, 'ms', mine, target) };
  };
  return [
    compared(
      `Billed for ${TURNS} turns by ${provider}, in tokens of input; bare: without its cache`,
      'tokens',
      inTokens(ours.billed),
      inTokens(ours.uncached),
      { atMost: 0.25 },
    ),
    alone('booked and not billed, or billed and not booked', '¢', Math.abs(ours.booked - ours.billed) * 100, {
      below: 0.01,
    }),
    alone('of a request, what the next one begins with', '% of its bytes', percent(ours.repeated, ours.before), {
      atLeast: 100,
    }),
    alone('of all that is sent, what was sent before', '% of its bytes', percent(ours.repeated, ours.told)),
    own(50, { atMost: 15 }),
    own(95),
    ...cpuRows('CPU of a turn', ours, theirs),
  ];
}

const percent = (part: number, whole: number): number => (100 * part) / whole;
