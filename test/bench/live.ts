/**
 * What following a workspace costs, and how late it is. Every stream is a connection of its own through the gateway, as a
 * browser's; `ts` of an event is when its transaction began, so that the time from there to the client has the commit in it.
 */
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { oneAfterAnother, underLoad } from './load.ts';
import { cpuOf, memoryOf } from './processes.ts';
import { alone, compared, percentile, type Row } from './report.ts';
import type { Product } from './systems.ts';

const SIZES = [1, 100, 1_000];
const IDLE = 100;
/** Opened at a time. */
const AT_ONCE = 50;

export interface LiveSizes {
  blocks: number;
  perBlock: number;
  settleMs: number;
  idleMs: number;
}

interface Streams {
  /** From the beginning of a transaction until the client had its event, ms: since they were last taken. */
  takeDelays(): number[];
  close(): Promise<void>;
}

const agent = new Agent({ keepAlive: false, maxSockets: Infinity });

async function openStreams(product: Product, count: number, query = ''): Promise<Streams> {
  let delays: number[] = [];
  const open: IncomingMessage[] = [];
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const request = get(
        `${product.baseUrl}/api/v1/cp/v1/live${query}`,
        { agent, headers: { cookie: product.cookie, accept: 'text/event-stream' } },
        (response) => {
          if (response.statusCode !== 200) return reject(new Error(`a stream is refused: ${response.statusCode}`));
          open.push(response);
          response.setEncoding('utf8').on('error', () => {});
          response.on('data', (chunk: string) => {
            if (chunk.includes('event: open')) resolve();
            const now = Date.now();
            for (const [, ts] of chunk.matchAll(/"kind":"run","cursor":"[^"]+","ts":"([^"]+)"|$/g)) {
              if (ts !== undefined) delays.push(now - Date.parse(ts));
            }
          });
        },
      );
      request.on('error', reject);
    });
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - opened) }, one));
  }
  return {
    takeDelays: () => delays.splice(0),
    async close() {
      await Promise.all(open.map((response) => new Promise((resolve) => response.on('close', resolve).destroy())));
      delays = [];
    },
  };
}

/** % of a core. */
async function idleCpu(product: Product, { settleMs, idleMs }: LiveSizes): Promise<number> {
  await sleep(settleMs);
  const [before, from] = [cpuOf(product.roots).total, performance.now()];
  await sleep(idleMs);
  return (100 * (cpuOf(product.roots).total - before)) / (performance.now() - from);
}

export async function live(product: Product, sizes: LiveSizes): Promise<Row[]> {
  const runs = sizes.perBlock * 2;
  const rows: Row[] = [];
  await underLoad(product, { callers: 5, ms: sizes.settleMs });

  for (const count of SIZES) {
    const streams = await openStreams(product, count);
    await oneAfterAnother([product], { blocks: 1, perBlock: runs });
    await sleep(1_000);
    const delays = streams.takeDelays();
    await streams.close();
    const name = `Commit to client, ${count.toLocaleString('en')} ${count === 1 ? 'stream' : 'streams'}`;
    rows.push(
      alone(`${name}, p50`, 'ms', percentile(delays, 50)),
      alone(`${name}, p95`, 'ms', percentile(delays, 95), count === 1_000 ? { atMost: 500 } : undefined),
      alone('events that came, of all streams', '', delays.length),
    );
  }

  const quiet = await idleCpu(product, sizes);
  const few = await openStreams(product, IDLE);
  const listening = await idleCpu(product, sizes);
  await few.close();
  rows.push(
    alone(`CPU of ${IDLE} idle streams`, '% of a core', listening - quiet, { atMost: 5 }),
    alone('the same without them', '% of a core', quiet),
  );

  await sleep(sizes.settleMs);
  const before = memoryOf(product.roots);
  const many = await openStreams(product, 1_000);
  await sleep(sizes.settleMs);
  rows.push(
    alone('Memory a stream, of 1,000', 'kB', ((memoryOf(product.roots) - before) * 1_024) / 1_000, { atMost: 50 }),
  );
  await many.close();

  rows.push(...(await costs(product, sizes)));
  return rows;
}

/**
 * The same runs with nobody who watches, with one who does, and with nobody again, in turns. Texts are left out: the offline
 * model gives them out slowly where they are read along, as a real one does, so that its time says nothing.
 */
async function costs(product: Product, { blocks, perBlock }: LiveSizes): Promise<Row[]> {
  const spent = { before: 0, watched: 0, after: 0 };
  const times: Record<keyof typeof spent, number[]> = { before: [], watched: [], after: [] };
  for (let block = 0; block < blocks; block++) {
    for (const when of ['before', 'watched', 'after'] as const) {
      const streams = when === 'watched' ? await openStreams(product, 1, '?text=false') : undefined;
      const [one] = await oneAfterAnother([product], { blocks: 1, perBlock });
      await streams?.close();
      spent[when] += one!.cpu.total;
      times[when].push(...one!.terminalMs);
    }
  }
  const each = (when: keyof typeof spent) => spent[when] / (blocks * perBlock);
  const p50 = (when: keyof typeof times) => percentile(times[when], 50);
  return [
    compared('CPU a run, watched; bare: unwatched', 'ms', each('watched'), each('before')),
    compared('Accept to terminal, p50, the same two', 'ms', p50('watched'), p50('before')),
    compared('CPU a run, unwatched after somebody watched; bare: before', 'ms', each('after'), each('before')),
    compared('Accept to terminal, p50, the same two', 'ms', p50('after'), p50('before')),
  ];
}
