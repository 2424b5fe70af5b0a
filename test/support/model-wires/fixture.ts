/** What a provider is asked and answers, in the shapes of its documentation. */
import { sse, type Reply } from '../fakes/openai-server.ts';

/** Of every fixture. */
export const KEY = 'canary-key-4711-do-not-show';

const line = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
export const stream = (...events: unknown[]): Reply => sse(...events.map(line));
export const answered =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export interface Fixture {
  model: string;
  env: Record<string, string>;
  /** A turn that thinks and calls a tool, and the answer to the one after it. */
  turn: Reply;
  end: Reply;
  usage: object;
  path: string;
  headers: Record<string, unknown>;
  /** All that is sent for the second turn. */
  sent: object;
  failures: [what: string, reply: Reply, code: string, more?: object][];
}

export const addSchema = { type: 'object', properties: { a: { type: 'number' } } };
