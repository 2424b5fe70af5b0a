/**
 * Makes the way to an MCP server: a child process, or an address. What comes back is bounded, whoever the server is.
 */
import { DEFAULT_INHERITED_ENV_VARS, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ReadBuffer } from '@modelcontextprotocol/sdk/shared/stdio.js';
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson, parsedJson } from '../core/json.ts';
import type { BodyLimits, Fetch, LimitedFetch } from '../egress/limits.ts';
import { byLine } from '../core/lines.ts';
import { readAnswers, readEventLine, readMessage } from './messages.ts';
import type { McpAddress, McpCommand, McpServer } from './servers.ts';

/** A server may close the stream of its notifications at once, and say that it wants it opened anew without delay. */
const STREAM_PACE_MS = 5_000;

export interface TransportOptions {
  fetch: LimitedFetch;
  /** Limits one message over standard output and one HTTP response, which for a tool is all that it may take. */
  limits: BodyLimits;
  /** Gets each line that a command writes to its standard error. */
  onStderr: (line: string) => void;
}

export const openTransport = (server: McpServer, options: TransportOptions): Transport =>
  'command' in server ? ofCommand(server, options) : ofAddress(server, options);

/**
 * A command inherits nothing of the service's environment, which holds its secrets, except where programs are found.
 */
const NOT_INHERITED: Record<string, string | undefined> = Object.fromEntries(
  DEFAULT_INHERITED_ENV_VARS.filter((name) => name !== 'PATH').map((name) => [name, undefined]),
);

function ofCommand({ command, args, env, cwd }: McpCommand, { limits, onStderr }: TransportOptions): Transport {
  const transport = new StdioClientTransport({
    command,
    args,
    // The SDK adds its own choice to what it is given; undefined takes a variable out again.
    env: { ...NOT_INHERITED, ...env } as Record<string, string>,
    ...(cwd === undefined ? {} : { cwd }),
    stderr: 'pipe',
    maxBufferSize: limits.maxBytes,
  });
  // The SDK reads through its own buffer, which refuses what `readMessage` mends.
  Object.assign(transport, { _readBuffer: new ForgivingBuffer({ maxBufferSize: limits.maxBytes }) });
  transport.stderr?.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString('utf8').split('\n')) if (line.trim()) onStderr(line.slice(0, 1_000));
  });
  return transport;
}

/** Skips lines that are no message, because commands print words where their messages belong. */
class ForgivingBuffer extends ReadBuffer {
  #lines: string[] = [];
  #rest = Buffer.alloc(0);
  readonly #maxBytes: number;

  constructor(options: { maxBufferSize: number }) {
    super(options);
    this.#maxBytes = options.maxBufferSize;
  }

  override append(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf('\n') + 1;
    this.#lines.push(...bytes.toString('utf8', 0, end).split('\n'));
    this.#rest = bytes.subarray(end);
    if (bytes.length > this.#maxBytes) throw new Error(`exceeded maximum size of ${this.#maxBytes} bytes`);
  }

  override readMessage(): JSONRPCMessage | null {
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      const message = readMessage(parsedJson(line));
      if (message) return message;
    }
    return null;
  }

  override clear(): void {
    this.#lines = [];
    this.#rest = Buffer.alloc(0);
  }
}

function ofAddress({ url, headers }: McpAddress, { fetch, limits }: TransportOptions): Transport {
  const ask: Fetch = async (url, init) => {
    // This is the stream of notifications, which stays open.
    if (init?.method === 'GET') return forgiving(await fetch(url, init, { ...limits, totalMs: Infinity }), []);
    // Where a stream is cut off, the SDK does not learn whose answer it was, so the caller is answered in the server's
    // place.
    const onExceeded = ({ message }: Error) => {
      for (const id of requestsIn(init?.body)) {
        transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: ErrorCode.InternalError, message } });
      }
    };
    return forgiving(await fetch(url, init, { ...limits, onExceeded }), requestsIn(init?.body));
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: paced(ask) as typeof globalThis.fetch,
    requestInit: { headers },
  }) as Transport;
  return transport;
}

/** @returns the answer with its messages as the protocol has them */
async function forgiving(answer: Response, ids: readonly (string | number)[]): Promise<Response> {
  const { status, headers } = answer;
  const type = headers.get('content-type') ?? '';
  if (!answer.ok || !answer.body) return answer;
  if (/^text\/event-stream\b/i.test(type))
    return new Response(answer.body.pipeThrough(byLine(readEventLine)), { status, headers });
  if (ids.length === 0 || !/^application\/json\b/i.test(type)) return answer;
  return new Response(readAnswers(await answer.text(), ids), {
    status,
    headers: { ...HEADERS_OF_JSON, ...sessionOf(headers) },
  });
}

const HEADERS_OF_JSON = { 'content-type': 'application/json' };
const sessionOf = (headers: Headers): Record<string, string> => {
  const session = headers.get('mcp-session-id');
  return session === null ? {} : { 'mcp-session-id': session };
};

/** @returns the ids of the requests in a message that the SDK sent */
const requestsIn = (body: unknown): (string | number)[] =>
  typeof body === 'string' ? [parseJson(body) as { id?: string | number }].flat().flatMap(({ id }) => id ?? []) : [];

/** Slows down repeated GETs, each of which opens a stream. */
const paced = (fetch: Fetch): Fetch => {
  let next = 0;
  return async (url, init) => {
    if (init?.method === 'GET') {
      const wait = next - performance.now();
      next = Math.max(performance.now(), next) + STREAM_PACE_MS;
      if (wait > 0) await sleep(wait, undefined, { signal: init.signal ?? undefined, ref: false });
    }
    return fetch(url, init);
  };
};
