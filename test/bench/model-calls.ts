/**
 * What the calls of models cost a worker while replies come, beside a bare reader of the same streams: processor time, which
 * a busy machine changes little, memory, how long others wait, and how late the first word is.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { present } from '../../src/platform/core/present.ts';
import { endWithUs } from './processes.ts';
import { alone, compared, percentile, type Row, type Target } from './report.ts';
import type { Asked, Cost } from './model/calls.ts';

const started = (file: string, ...args: string[]): ChildProcess => {
  const child = fork(fileURLToPath(new URL(`model/${file}`, import.meta.url)), args, { execArgv: ['--expose-gc'] });
  endWithUs(present(child.pid));
  return child;
};

/** One chunk every 50 ms, as models write, or ten at once every half second. */
const SLOW = { everyMs: 50, words: 1, target: { atMost: 30 } };
const BURSTS = { everyMs: 500, words: 10, target: { atMost: 15 } };
/** Beside its words: the first and the last two, and the end. */
const OTHER_CHUNKS = 4;
const FULL_WORKER = 1_500;

export async function model({ share }: { share: number }): Promise<Row[]> {
  const server = started('paced-server.ts');
  const [port] = await once(server, 'message');
  const words = 200 * Math.max(share, 0.25);
  const cost = async (reader: Asked['reader'], calls: number, { everyMs, words: each }: typeof SLOW): Promise<Cost> => {
    const asked: Asked = {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      model: `paced-${everyMs}-${each}-${words / each}`,
      calls,
      reader,
    };
    const [told] = await once(started('calls.ts', JSON.stringify(asked)), 'message');
    return told;
  };
  const both = async (name: string, calls: number, pace: typeof SLOW, more: (ours: Cost, of: string) => Row[]) => {
    const of = `${calls.toLocaleString('en')} ${name}`;
    const [ours, theirs] = [await cost('product', calls, pace), await cost('bare', calls, pace)];
    const chunk = ({ cpuMs }: Cost) => (1_000 * cpuMs) / (calls * (words + OTHER_CHUNKS));
    return [
      ofProduct(`CPU of a chunk, ${of}`, 'µs', chunk(ours), chunk(theirs), pace.target),
      ofProduct('memory of a call', 'kB', kilobytes(ours) / calls, kilobytes(theirs) / calls, { atMost: 200 }),
      ...more(ours, of),
    ];
  };
  const late = (ours: Cost): Row[] => [
    alone('first word after the provider wrote it, p50', 'ms', percentile(ours.firstTokenMs, 50), { atMost: 10 }),
  ];
  const delayed = (ours: Cost): Row[] => [
    ...late(ours),
    alone('delay of the event loop, p99', 'ms', ours.loopP99Ms, { below: 50 }),
  ];
  try {
    return [
      ...(await both('slow streams', 100, SLOW, late)),
      ...(await both('slow streams', 400, SLOW, late)),
      ...(await both('slow streams', FULL_WORKER * share, SLOW, delayed)),
      ...(await both('streams in bursts', 100, BURSTS, late)),
      ...(await both('streams in bursts', 400, BURSTS, late)),
    ];
  } finally {
    server.disconnect();
  }
}

const kilobytes = ({ memoryBytes }: Cost): number => memoryBytes / 1_024;
/** The target is of the product's figure, the ratio beside it. */
const ofProduct = (measure: string, unit: string, ours: number, theirs: number, target: Target): Row => ({
  ...compared(measure, unit, ours, theirs),
  ...alone(measure, unit, ours, target),
});
