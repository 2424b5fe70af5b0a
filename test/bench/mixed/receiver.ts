/** A receiver of webhooks that answers and counts; it keeps nothing of them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { portOf } from '../../support/processes/listening.ts';

export interface Receiver {
  url: string;
  /** For `EGRESS_ALLOWLIST`. */
  hostAndPort: string;
  count(): number;
  /** @returns false when they did not come in time */
  untilCount(count: number): Promise<boolean>;
}

const PATIENCE_MS = 60_000;

export async function startReceiver(): Promise<Receiver> {
  let received = 0;
  const server = createServer((request, response) => {
    received++;
    request.resume();
    response.writeHead(200).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostAndPort = `127.0.0.1:${portOf(server)}`;
  return {
    url: `http://${hostAndPort}/hook`,
    hostAndPort,
    count: () => received,
    async untilCount(count) {
      for (const deadline = Date.now() + PATIENCE_MS; received < count && Date.now() < deadline;) await sleep(50);
      return received >= count;
    },
  };
}
