/** One open connection to an MCP server, from its first word to its end. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { fieldsOf } from '../core/record.ts';
import { McpConnectionError, McpRefusalError, McpTimeoutError, namedFailure } from './errors.ts';

export interface McpTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** The server says this of the tool; nothing holds it to that. */
  hints: { readOnly: boolean; idempotent: boolean; destructive: boolean };
}

export interface McpResult {
  content: unknown[];
  structuredContent?: Record<string, unknown> | undefined;
  isError: boolean;
}

/** A tool that is not used, and why. */
export interface LeftOut {
  /** As the server names it; empty if it has no name. */
  name: string;
  reason: string;
}

export interface McpSession {
  /** Asks the server anew. */
  listTools(): Promise<{ tools: McpTool[]; leftOut: LeftOut[] }>;
  /**
   * @throws McpRefusalError, McpTimeoutError, McpConnectionError, and the signal's reason
   */
  call(tool: string, args: Record<string, unknown>, limits: CallLimits): Promise<McpResult>;
  /** Resolves when the session is over, whoever ended it, with the reason. */
  ended: Promise<string>;
  close(): Promise<void>;
}

export interface CallLimits {
  timeoutMs: number;
  signal: AbortSignal;
}

export interface SessionOptions {
  transport: Transport;
  /** Limits the first exchange, before which a command may have to be downloaded. */
  timeoutMs: number;
  /** Stops an opening that is under way. */
  signal: AbortSignal;
  /**
   * Called when the server's tools have changed, or something is wrong with the connection, so that its tools should be
   * asked for again.
   */
  onDoubt: () => void;
  /** Adds to the message that the connection has ended what the server said of it elsewhere. */
  explain?: (message: string) => string;
}

const LIST_TIMEOUT_MS = 10_000;
const FAREWELL_MS = 1_000;
const MAX_TOOLS = 500;
const MAX_PAGES = 50;
/** The SDK has a time limit for each request; this one makes it longer than any of the product's own. */
const NEVER_MS = 2 ** 31 - 1;
/** The SDK says so before it ends a command that writes without a line break. */
const OVERLONG = /exceeded maximum size/;

const ignore = (): void => {};

/** A list is read tool by tool, so that one that is malformed does not cost the others. */
const Page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const ListedTool = z.object({
  name: z.string(),
  description: z.string().catch(''),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z
    .object({
      readOnlyHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
    })
    .catch({}),
  execution: z.object({ taskSupport: z.string().optional() }).optional().catch(undefined),
});
const Result = z.object({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().default(false),
});

/** @returns the tool, or why it cannot be one */
function toolOf(listed: unknown): McpTool | LeftOut {
  const { success, data, error } = ListedTool.safeParse(listed);
  const { name: given } = fieldsOf(listed);
  if (!success) {
    const fields = error.issues.map(({ path }) => path.join('.') || 'the tool').join(', ');
    return { name: typeof given === 'string' ? given : '', reason: `it cannot be read: ${fields}` };
  }
  const { name, description, inputSchema, annotations } = data;
  if (data.execution?.taskSupport === 'required')
    return { name, reason: 'it answers with a task to be polled for, which is not supported' };
  const { readOnlyHint = false, idempotentHint = false, destructiveHint = !readOnlyHint } = annotations;
  const hints = { readOnly: readOnlyHint, idempotent: idempotentHint, destructive: destructiveHint };
  return { name, description, inputSchema, hints };
}

/** @returns whatever the SDK or a transport threw, as one of the product's errors */
function sdkFailure(error: unknown): Error {
  if (error instanceof StreamableHTTPError) {
    const status = error.code ?? 0;
    const isRefused = status >= 400 && status < 500;
    if (status === 401 || status === 403) return new McpConnectionError('it refuses the credential', true);
    return new McpConnectionError(status > 0 ? `it answers with status ${status}` : 'it does not speak MCP', isRefused);
  }
  if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) return new McpRefusalError(error.message);
  return namedFailure(error);
}

/** @throws McpConnectionError, McpTimeoutError or McpRefusalError */
export async function openSession(options: SessionOptions): Promise<McpSession> {
  const { transport, timeoutMs, signal, onDoubt, explain = (message: string) => message } = options;
  // The methods of the client for tools are not used: they compile the server's output schemas, which may say anything.
  const client = new Client({ name: 'agent-orchestration-service', version: '1' });
  let isOver = false;
  let broken = 'its connection closed';
  const ended = new Promise<string>((resolve) => {
    client.onclose = () => {
      isOver = true;
      // What a command wrote before it died arrives a moment later.
      setImmediate(() => resolve(explain(broken)));
    };
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, onDoubt);
  // The transport reports the end of a command; that of a server behind an address shows only in failing requests.
  const isRemote = transport instanceof StreamableHTTPClientTransport;
  client.onerror = ({ message }) => {
    if (isRemote) onDoubt();
    else if (OVERLONG.test(message)) broken = 'it sent a message that is longer than RESPONSE_MAX_MB allows';
  };

  async function limited<T>(
    ask: (signal: AbortSignal) => Promise<T>,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<T> {
    signal?.throwIfAborted();
    // Each request has one of its own, because the SDK goes on listening after the answer and would cancel what is long
    // over.
    const stop = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      stop.abort();
    }, timeoutMs);
    const forward = () => stop.abort();
    signal?.addEventListener('abort', forward, { once: true });
    try {
      return await ask(stop.signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (isLate) throw new McpTimeoutError(`no answer within ${timeoutMs / 1_000} seconds`);
      if (error instanceof z.core.$ZodError) throw new McpRefusalError('its answer cannot be understood');
      if (isOver && error instanceof McpError && error.code === Number(ErrorCode.ConnectionClosed))
        throw new McpConnectionError(await ended, false);
      throw sdkFailure(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forward);
    }
  }

  const close = async () => {
    // This tells the server that it can forget the session.
    if (isRemote && !isOver)
      await Promise.race([transport.terminateSession().catch(ignore), sleep(FAREWELL_MS, undefined, { ref: false })]);
    await client.close().catch(ignore);
  };

  async function listTools() {
    const tools = new Map<string, McpTool>();
    const leftOut: LeftOut[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES && tools.size < MAX_TOOLS; pages += 1) {
      const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } } as const;
      const page = await limited((signal) => client.request(request, Page, { signal, timeout: NEVER_MS }), {
        timeoutMs: LIST_TIMEOUT_MS,
      });
      for (const each of page.tools.map(toolOf)) {
        if ('reason' in each) leftOut.push(each);
        else if (tools.has(each.name)) leftOut.push({ name: each.name, reason: 'another tool before it has its name' });
        else if (tools.size === MAX_TOOLS)
          leftOut.push({ name: each.name, reason: `the server has more than ${MAX_TOOLS} tools` });
        else tools.set(each.name, each);
      }
      cursor = page.nextCursor;
      // Some say so of the last page by an empty text.
      if (!cursor) break;
    }
    return { tools: [...tools.values()], leftOut: leftOut.slice(0, MAX_TOOLS) };
  }

  try {
    await limited((signal) => client.connect(transport, { signal, timeout: NEVER_MS }), {
      timeoutMs,
      signal,
    });
  } catch (error) {
    await close();
    throw error;
  }

  return {
    listTools,
    call: (name, args, limits) =>
      limited(
        (signal) =>
          client.request({ method: 'tools/call', params: { name, arguments: args } }, Result, {
            signal,
            timeout: NEVER_MS,
          }),
        limits,
      ),
    ended,
    close,
  };
}
