/**
 * Makes the way to an MCP server: a child process, or an address. What comes back is bounded, whoever the server is.
 */
import { DEFAULT_INHERITED_ENV_VARS, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../core/json.ts';
import type { BodyLimits, Fetch, LimitedFetch } from '../egress/limits.ts';
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
  transport.stderr?.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString('utf8').split('\n')) if (line.trim()) onStderr(line.slice(0, 1_000));
  });
  return transport;
}

function ofAddress({ url, headers }: McpAddress, { fetch, limits }: TransportOptions): Transport {
  const ask: Fetch = (url, init) => {
    // This is the stream of notifications, which stays open.
    if (init?.method === 'GET') return fetch(url, init, { ...limits, totalMs: Infinity });
    // Where a stream is cut off, the SDK does not learn whose answer it was, so the caller is answered in the server's
    // place.
    const onExceeded = ({ message }: Error) => {
      for (const id of requestsIn(init?.body)) {
        transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: ErrorCode.InternalError, message } });
      }
    };
    return fetch(url, init, { ...limits, onExceeded });
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: paced(ask) as typeof globalThis.fetch,
    requestInit: { headers },
  }) as Transport;
  return transport;
}

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
