/**
 * Holds every connection of this process to MCP servers: one for each of the operator's, one for each that a workspace
 * uses. Those of workspaces are opened through the guarded `fetch`, and closed when nobody uses them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../core/log.ts';
import type { Config } from '../core/config.ts';
import { sha256 } from '../core/crypto.ts';
import { first, present } from '../core/present.ts';
import { answerLimits, plainFetch, type LimitedFetch } from '../egress/limits.ts';
import { createMcpConnection, type McpConnection } from './connection.ts';
import { createLastWords } from './last-words.ts';
import type { McpServer } from './servers.ts';

/** A server that a workspace named. Its address is a secret of the workspace: no message and no log line has it. */
export interface WorkspaceMcpServer {
  name: string;
  url: string;
  bearer?: string | undefined;
  /**
   * The value changes when address and credential are given anew. A workspace that was made again for somebody else may
   * be given the same ones, and what its server remembers of the earlier session is not theirs.
   */
  given?: string;
}

export interface McpPool {
  /** The operator's servers by their names. */
  operators: ReadonlyMap<string, McpConnection>;
  ofWorkspace(customerId: string, server: WorkspaceMcpServer): McpConnection;
  /** Sets the operator's servers: connections that are gone or changed are closed, the others stay open. */
  replaceOperators(servers: ReadonlyMap<string, McpServer>): void;
  /** Opens the operator's connections ahead of their first use. */
  connect(): void;
  close(): Promise<void>;
}

export interface McpPoolOptions {
  servers: ReadonlyMap<string, McpServer>;
  /** Connections to servers that a workspace names go through this. */
  guardedFetch: LimitedFetch;
  settings: Pick<Config, 'MCP_TIMEOUT' | 'RESPONSE_MAX_MB' | 'RESPONSE_TIMEOUT'>;
  log: Log;
}

/** A command may have to be downloaded before it answers. */
const COMMAND_TIMEOUT_MS = 60_000;
const ADDRESS_TIMEOUT_MS = 15_000;
const IDLE_MS = 600_000;
/** A late call reports that itself; its answer is cut off after this time. */
const GRACE_MS = 5_000;
/** Beyond this number the oldest connection of the workspace with the most is closed, so that no workspace closes another's. */
const MAX_OF_WORKSPACES = 500;

interface Kept {
  customerId: string;
  /** A digest of address, credential and the time when they were given: with others it is another connection. */
  digest: string;
  connection: McpConnection;
  usedAt: number;
}

export function createMcpPool({ servers, guardedFetch, settings, log }: McpPoolOptions): McpPool {
  const plain = plainFetch(settings);
  const limits = {
    ...answerLimits(settings),
    totalMs: Math.max(settings.MCP_TIMEOUT, ADDRESS_TIMEOUT_MS) + GRACE_MS,
  };
  const connect = (name: string, server: McpServer, fetch: LimitedFetch, serverLog: Log): McpConnection =>
    createMcpConnection({
      name,
      log: serverLog,
      async open({ signal, onDoubt }) {
        // Most deployments have no MCP server, and the SDK takes 20 MB.
        const [{ openSession }, { openTransport }] = await Promise.all([
          import('./session.ts'),
          import('./transport.ts'),
        ]);
        const lastWords = createLastWords('command' in server ? [...Object.values(server.env), ...server.args] : []);
        const onStderr = (line: string): void => {
          lastWords.add(line);
          serverLog.debug({ line }, 'stderr');
        };
        return openSession({
          transport: openTransport(server, { fetch, limits, onStderr }),
          explain: lastWords.after,
          timeoutMs: 'command' in server ? COMMAND_TIMEOUT_MS : ADDRESS_TIMEOUT_MS,
          signal,
          onDoubt,
        });
      },
    });

  const ofOperator = (name: string, server: McpServer): McpConnection =>
    connect(name, server, plain, log.child({ mcp_server: name }));
  const operators = new Map([...servers].map(([name, server]) => [name, ofOperator(name, server)]));
  let known = servers;
  /** The first entry is the one unused for longest. */
  const kept = new Map<string, Kept>();
  const drop = (key: string): void => {
    const { connection } = present(kept.get(key));
    kept.delete(key);
    void connection.close();
  };
  const sweep = setInterval(() => {
    for (const [key, { usedAt }] of kept) if (performance.now() - usedAt > IDLE_MS) drop(key);
  }, IDLE_MS / 10).unref();

  return {
    operators,

    ofWorkspace(customerId, { name, url, bearer, given }) {
      const key = `${customerId}/${name}`;
      const digest = sha256(JSON.stringify([url, bearer, given]));
      const older = kept.get(key);
      if (older && older.digest !== digest) drop(key);
      const connection =
        kept.get(key)?.connection ??
        connect(
          name,
          { url, headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } },
          guardedFetch,
          log.child({ mcp_server: name, customer_id: customerId }),
        );
      kept.delete(key);
      kept.set(key, { customerId, digest, connection, usedAt: performance.now() });
      if (kept.size > MAX_OF_WORKSPACES) drop(oldestOfLargest(kept));
      return connection;
    },

    replaceOperators(replacing) {
      for (const [name, connection] of operators) {
        if (isDeepStrictEqual(replacing.get(name), known.get(name))) continue;
        operators.delete(name);
        void connection.close();
      }
      known = replacing;
      for (const [name, server] of replacing) {
        if (!operators.has(name)) operators.set(name, ofOperator(name, server));
      }
    },

    connect() {
      for (const connection of operators.values()) void connection.state();
    },

    async close() {
      clearInterval(sweep);
      const all = [...operators.values(), ...[...kept.values()].map(({ connection }) => connection)];
      await Promise.all(all.map((connection) => connection.close()));
    },
  };
}

/** @param kept begins with the connection that is unused for longest */
function oldestOfLargest(kept: ReadonlyMap<string, Pick<Kept, 'customerId'>>): string {
  const oldest = new Map<string, { key: string; count: number }>();
  for (const [key, { customerId }] of kept) {
    const of = oldest.get(customerId) ?? { key, count: 0 };
    oldest.set(customerId, { ...of, count: of.count + 1 });
  }
  return first([...oldest.values()].sort((a, b) => b.count - a.count)).key;
}
