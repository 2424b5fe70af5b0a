/** Connections that are kept alive and never idle for long, as those of a pool of clients are. */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import { errorCodeOf } from '../../../src/platform/core/causes.ts';

export interface Busy {
  /** Requests that were answered so far, and how many of the answers said that they are the last of their connection. */
  readonly answered: number;
  readonly last: number;
  /** Status codes of the answers. */
  readonly statuses: ReadonlySet<number>;
  /** What became of those that were sent and never answered. */
  readonly lost: readonly string[];
  /** When the latest answer came, as `performance.now()` has it. */
  readonly latestAt: number;
  end(): Promise<void>;
}

const REFUSED_MS = 20;

/**
 * Whoever is refused has sent nothing, and asks again.
 * @param urls of the same service: who is told that an answer is the last goes to the next one
 * @param body makes each request a POST of it
 */
export function keepBusy(
  urls: readonly string[],
  connections: number,
  headers: Record<string, string> = {},
  body?: string,
): Busy {
  const { Agent, request } = first(urls).startsWith('https:') ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const method = body === undefined ? 'GET' : 'POST';
  const lost: string[] = [];
  const statuses = new Set<number>();
  let [answered, last, latestAt, isOver] = [0, 0, 0, false];
  const ask = (at: number) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(itemAt(urls, at % urls.length), { agent, method, headers }, (response) => {
        response
          .on('error', reject)
          .on('end', () => resolve(response))
          .resume();
      });
      asked.on('error', reject).end(body);
    });
  async function client(): Promise<void> {
    for (let at = 0; !isOver;) {
      try {
        const { headers: told, statusCode } = await ask(at);
        statuses.add(present(statusCode));
        answered += 1;
        latestAt = performance.now();
        if (told.connection !== 'close') continue;
        last += 1;
        at += 1;
      } catch (error) {
        if (errorCodeOf(error) !== 'ECONNREFUSED') lost.push(String(error));
        at += 1;
        await wait(REFUSED_MS);
      }
    }
  }
  const clients = Array.from({ length: connections }, client);
  return {
    get answered() {
      return answered;
    },
    get last() {
      return last;
    },
    get latestAt() {
      return latestAt;
    },
    statuses,
    lost,
    async end() {
      isOver = true;
      await Promise.all(clients);
      agent.destroy();
    },
  };
}
