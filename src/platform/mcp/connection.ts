/**
 * Keeps an MCP server connected for as long as it is wanted: it is opened when first asked for, and opened anew, ever
 * more slowly, when it is lost. Whoever asks waits a few seconds at most; a server that is down is reported as down,
 * and holds nobody up.
 */
import type { Log } from '../core/log.ts';
import { present } from '../core/present.ts';
import { findSchemaProblem } from '../core/schema-checks.ts';
import { toolSchema } from '../models/tool-schemas.ts';
import { McpConnectionError, McpTimeoutError, McpUnavailableError, namedFailure } from './errors.ts';
import type { CallLimits, LeftOut, McpResult, McpSession, McpTool } from './session.ts';

export interface TakenTool extends McpTool {
  /** Why models are told of its arguments in another form than the server's. */
  adapted?: string;
}

export interface McpState {
  tools: readonly TakenTool[];
  leftOut: readonly LeftOut[];
  /** The server is connected, or not, since this time. */
  since: Date;
  down?: string;
  /** The reason in `down` alone. */
  reason?: string;
}

export interface McpConnection {
  /** The tools that the server last told of, and why they cannot be called where that is so. */
  state(): Promise<McpState>;
  /**
   * @throws McpUnavailableError when nothing was asked of the server; McpRefusalError, McpTimeoutError,
   * McpConnectionError, and the signal's reason
   */
  call(tool: string, args: Record<string, unknown>, limits: CallLimits): Promise<McpResult>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** The server's name, for people. */
  name: string;
  open: (options: { signal: AbortSignal; onDoubt: () => void }) => Promise<McpSession>;
  log: Log;
}

/** Callers wait this long for the first opening, or for the one after a loss. */
const PATIENCE_MS = 5_000;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 60_000;
/** A server that was lost sooner than this is not opened again at once, since it may be crashing on its start. */
const STABLE_MS = 10_000;
/** The list of tools is asked for anew after this time, because some servers cannot tell when it changes. */
const MAX_AGE_MS = 300_000;
/** Several changes within this time cause one refresh. */
const REFRESH_DELAY_MS = 100;

interface Held {
  session: McpSession;
  openedAt: number;
  listedAt: number;
}

export function createMcpConnection({ name, open, log }: ConnectionOptions): McpConnection {
  const closing = new AbortController();
  const reported = new Set<string>();
  let held: Held | undefined;
  let tools: readonly TakenTool[] = [];
  let leftOut: readonly LeftOut[] = [];
  let since = new Date();
  let reason = 'it is still starting';
  /** Failures in a row; those of a server that held for a while are forgiven. */
  let failures = 0;
  let opening: { done: Promise<void>; since: number } | undefined;
  let retry: NodeJS.Timeout | undefined;
  let refresh: NodeJS.Timeout | undefined;

  async function take(tool: McpTool): Promise<TakenTool | LeftOut> {
    const { name, inputSchema } = tool;
    if (!/^[\w.-]{1,128}$/.test(name))
      return { name, reason: 'its name has characters that a tool of an agent cannot have, or is too long' };
    const problem = await findSchemaProblem(inputSchema, { objectOnly: true });
    if (!problem) return tool;
    // What no agent's call could be checked against is perhaps only another draft, or refers to itself.
    const isObject = inputSchema.type === undefined || inputSchema.type === 'object';
    const isWhole = !/"\$ref":"(?!#)/.test(JSON.stringify(inputSchema));
    const adapted = isObject && isWhole ? toolSchema(inputSchema) : undefined;
    if (!adapted || (await findSchemaProblem(adapted, { objectOnly: true }))) return { name, reason: problem };
    return { ...tool, inputSchema: adapted, adapted: problem };
  }

  async function takeAll(listed: { tools: readonly McpTool[]; leftOut: readonly LeftOut[] }): Promise<void> {
    const taken = await Promise.all(listed.tools.map(take));
    tools = taken.filter((each): each is TakenTool => !('reason' in each));
    const unusable = taken.filter((each): each is LeftOut => 'reason' in each);
    leftOut = [...listed.leftOut, ...unusable];
    for (const { name: tool, reason: why } of unusable) {
      if (!reported.has(tool))
        log.warn({ tool: tool.slice(0, 200), reason: why }, 'a tool of an MCP server is left out');
      reported.add(tool);
    }
  }

  async function attempt(): Promise<void> {
    let session: McpSession | undefined;
    try {
      session = await open({ signal: closing.signal, onDoubt });
      await takeAll(await session.listTools());
      closing.signal.throwIfAborted();
      held = { session, openedAt: performance.now(), listedAt: performance.now() };
      since = new Date();
      void session.ended.then((why) => lose(present(session), why));
      log.info({ tools: tools.length }, 'connected to an MCP server');
    } catch (error) {
      await session?.close();
      if (closing.signal.aborted) return;
      reason = namedFailure(error).message;
      if (failures === 0) since = new Date();
      failures += 1;
      log[failures === 1 ? 'warn' : 'debug']({ reason }, 'an MCP server cannot be used');
      openLater();
    }
  }

  function openNow(): void {
    clearTimeout(retry);
    retry = undefined;
    if (opening || closing.signal.aborted) return;
    const done = attempt().finally(() => (opening = undefined));
    opening = { done, since: performance.now() };
  }

  function openLater(): void {
    retry = setTimeout(openNow, Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS)).unref();
  }

  function lose(session: McpSession, why: string): void {
    if (held?.session !== session) return;
    const isStable = performance.now() - held.openedAt > STABLE_MS;
    held = undefined;
    void session.close();
    if (closing.signal.aborted) return;
    reason = why;
    since = new Date();
    failures = isStable ? 0 : failures + 1;
    log.warn({ reason }, 'an MCP server was lost');
    if (isStable) openNow();
    else openLater();
  }

  function onDoubt(): void {
    refresh ??= setTimeout(() => {
      void listAgain().finally(() => (refresh = undefined));
    }, REFRESH_DELAY_MS).unref();
  }

  async function listAgain(): Promise<void> {
    if (!held) return;
    const { session } = held;
    try {
      const listed = await session.listTools();
      if (held?.session !== session) return;
      held.listedAt = performance.now();
      await takeAll(listed);
    } catch (error) {
      lose(session, namedFailure(error).message);
    }
  }

  async function reachable(): Promise<McpSession | undefined> {
    if (!held && !opening && !retry) openNow();
    // Callers wait only where there is hope: a server that has failed before is tried in the background.
    if (!held && opening && failures === 0) await settledWithin(opening.done, opening.since + PATIENCE_MS);
    return held?.session;
  }

  return {
    async state() {
      const session = await reachable();
      if (held && performance.now() - held.listedAt > MAX_AGE_MS) onDoubt();
      if (session) return { tools, leftOut, since };
      return {
        tools,
        leftOut,
        since,
        reason,
        down: `the MCP server "${name}" cannot be used at the moment: ${reason}`,
      };
    },

    async call(tool, args, limits) {
      for (let isRepeated = false; ; isRepeated = true) {
        const session = await reachable();
        if (!session) {
          throw new McpUnavailableError(`the MCP server "${name}" cannot be used at the moment: ${reason}`);
        }
        try {
          return await session.call(tool, args, limits);
        } catch (error) {
          // A late server may be slow or gone; a connection error already says that it is gone.
          if (error instanceof McpTimeoutError) onDoubt();
          if (error instanceof McpConnectionError) {
            lose(session, error.message);
            // The server has not heard of this call, as after a restart it may have forgotten the session, so the call
            // is sent again.
            if (error.isUnsent && !isRepeated) continue;
          }
          throw error;
        }
      }
    },

    async close() {
      closing.abort();
      clearTimeout(retry);
      clearTimeout(refresh);
      const session = held?.session;
      held = undefined;
      await session?.close();
      await opening?.done;
    },
  };
}

/** @param until a time on the clock of `performance.now` */
async function settledWithin(work: Promise<void>, until: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, until - performance.now()));
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
