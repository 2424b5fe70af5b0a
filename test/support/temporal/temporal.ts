/** The test run's Temporal server. Each file takes a queue prefix of its own, so that no worker sees another's work. */
import { randomBytes } from 'node:crypto';
import { createLog, type Log } from '../../../src/platform/core/log.ts';
import { connectTemporal, type Temporal } from '../../../src/platform/temporal/client.ts';

export interface TestTemporal extends Temporal {
  /** For `TASK_QUEUE_PREFIX`. */
  queuePrefix: string;
}

/** On a busy machine Temporal takes longer for an answer, now and then, than a route waits for it. */
const BUSY_MS = 20_000;

/**
 * Routes wait for it longer than as deployed, unless the test has put something in between, to see what they do then.
 * @param log where the SDK's own lines go; errors to stdout when not given
 * @param codecKeys as `TEMPORAL_CODEC_KEYS` has them
 */
export async function connectTestTemporal(
  log: Log = createLog({ level: 'error', pretty: false }),
  codecKeys?: string,
): Promise<TestTemporal> {
  const address = process.env.TEST_TEMPORAL_ADDRESS;
  if (!address) throw new Error('the global set-up has not started Temporal');
  const temporal = await connectTo(address, log, codecKeys);
  const isDirect = address === process.env.TEST_TEMPORAL_SERVER;
  const queuePrefix = `t${randomBytes(5).toString('hex')}-`;
  return { ...temporal, queuePrefix, ...(isDirect && { answersWithinMs: BUSY_MS }) };
}

/** The first connection of a process decides whether the SDK counts, and some test may read what it counted. */
export const connectTo = (address: string, log: Log, codecKeys?: string): Promise<Temporal> =>
  connectTemporal({ TEMPORAL_ADDRESS: address }, { log, codecKeys, withMetrics: true });
