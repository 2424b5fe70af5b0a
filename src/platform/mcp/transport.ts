/** The way to an MCP server: a child process, or an address. What comes back is bounded, whoever the server is. */
import { DEFAULT_INHERITED_ENV_VARS, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { McpAddress, McpCommand, McpServer } from './servers.ts';

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Of one message over standard output, and of one HTTP response. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** A server may close the stream of its notifications at once, and say that it wants it opened anew without delay. */
const STREAM_PACE_MS = 5_000;

export interface TransportOptions {
  fetch: Fetch;
  /** Gets each line that a command writes to its standard error. */
  onStderr: (line: string) => void;
}

export const openTransport = (server: McpServer, { fetch, onStderr }: TransportOptions): Transport =>
  'command' in server ? ofCommand(server, onStderr) : ofAddress(server, fetch);

/** Nothing of the service's own environment, which holds its secrets, but where commands are found. */
const NOT_INHERITED: Record<string, string | undefined> = Object.fromEntries(
  DEFAULT_INHERITED_ENV_VARS.filter((name) => name !== 'PATH').map((name) => [name, undefined]),
);

function ofCommand({ command, args, env, cwd }: McpCommand, onStderr: (line: string) => void): Transport {
  const transport = new StdioClientTransport({
    command,
    args,
    // The SDK adds its own choice to what it is given; undefined takes a variable out again.
    env: { ...NOT_INHERITED, ...env } as Record<string, string>,
    ...(cwd === undefined ? {} : { cwd }),
    stderr: 'pipe',
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  transport.stderr?.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString('utf8').split('\n')) if (line.trim()) onStderr(line.slice(0, 1_000));
  });
  return transport;
}

function ofAddress({ url, headers }: McpAddress, fetch: Fetch): Transport {
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: paced(bounded(fetch)) as typeof globalThis.fetch,
    requestInit: { headers },
  }) as Transport;
}

/** Fails a response, while it is read, that is longer than anything a tool may say. */
const bounded =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    let bytes = 0;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > MAX_MESSAGE_BYTES) controller.error(new Error(`more than ${MAX_MESSAGE_BYTES} bytes`));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
  };

/** GET opens a stream. */
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
