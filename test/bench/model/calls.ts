/**
 * A process of its own that stands for a worker: so many calls of a model at once, by what calls models in a worker. What it
 * cost goes to the parent.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../src/platform/core/log.ts';
import { createEgress } from '../../../src/platform/egress/egress.ts';
import { answerLimits } from '../../../src/platform/egress/limits.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { request } from 'undici';
import { benchConfig } from './config.ts';

export interface Asked {
  baseUrl: string;
  model: string;
  calls: number;
  /** `bare` reads the same stream by itself: words, and nothing else. */
  reader: 'product' | 'bare';
}

export interface Cost {
  /** Of this process, user and system, until the last call had ended. */
  cpuMs: number;
  loopP99Ms: number;
  /** At its most, above what it was before the calls. */
  memoryBytes: number;
  /** From when the provider wrote its first chunk until the caller had it. */
  firstTokenMs: number[];
}

const asked: Asked = JSON.parse(process.argv[2] ?? '');
const config = benchConfig({});
// The server is one that a workspace names: addresses are looked at.
const egress = createEgress({
  allowlist: [new URL(asked.baseUrl).host],
  allowHttp: true,
  limits: answerLimits(config),
});
const models = createModels(config, { log: createLog({ level: 'silent', pretty: false }), guardedFetch: egress.fetch });
const firstTokenMs: number[] = [];

const BEGIN_MS = 2_000;

async function ofProduct(model: string): Promise<void> {
  const credentials = models.credentials({ 'openai-compatible': { baseUrl: asked.baseUrl, model } });
  let isFirst = true;
  await models.call({
    resolved: models.resolve({ model: 'auto', prompt: 'hello' }, credentials),
    credentials,
    messages: [{ role: 'user', content: 'hello' }],
    system: 'You are helpful.',
    tools: [],
    maxOutputTokens: 4_000,
    timeoutMs: 300_000,
    signal: new AbortController().signal,
    onText(piece) {
      if (isFirst) firstTokenMs.push(performance.timeOrigin + performance.now() - Number(piece.split(' ')[0]));
      isFirst = false;
    },
  });
}

async function bare(model: string): Promise<void> {
  const { body } = await request(`${asked.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hello' }] }),
  });
  let rest = '';
  let text = '';
  for await (const chunk of body.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: {')) text += JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '';
    }
  }
  if (text === '') throw new Error('nothing was read');
}

const one = asked.reader === 'bare' ? bare : ofProduct;

await Promise.all(Array.from({ length: 20 }, () => one('paced-5-5-40')));
firstTokenMs.length = 0;
globalThis.gc?.();
await sleep(500);

const before = process.memoryUsage().rss;
let most = before;
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 250);
const delay = monitorEventLoopDelay({ resolution: 5 });
const from = process.cpuUsage();
// They do not begin in one moment, as those of a worker do not.
const calls = Array.from({ length: asked.calls }, async (_, i) => {
  await sleep((i * BEGIN_MS) / asked.calls);
  await one(asked.model);
});
await sleep(BEGIN_MS);
delay.enable();
await Promise.all(calls);
delay.disable();
clearInterval(watch);
const { user, system } = process.cpuUsage(from);
const cost: Cost = {
  cpuMs: (user + system) / 1_000,
  loopP99Ms: delay.percentile(99) / 1e6,
  memoryBytes: most - before,
  firstTokenMs,
};
process.send?.(cost);
process.disconnect();
