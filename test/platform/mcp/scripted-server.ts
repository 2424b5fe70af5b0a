/** An MCP server of the official SDK whose tools, and mischief, a test decides. Streamable HTTP with sessions. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { portOf } from '../../support/processes/listening.ts';

type Listed = Record<string, unknown>;

export interface ScriptedServer {
  url: string;
  /** host:port */
  address: string;
  /** Of every request. */
  headers: IncomingHttpHeaders[];
  /** Calls that reached it, by tool, and those of them that were cancelled. */
  calls: string[];
  cancelled: string[];
  /** Sessions that its clients ended. */
  endedSessions: number;
  /** Announced to who listens. */
  setTools(tools: Listed[]): Promise<void>;
  /** How it answers the next requests, before MCP is spoken; undefined: as it should. */
  status: number | undefined;
  close(): Promise<void>;
}

export const tool = (name: string, more: Listed = {}): Listed => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
});

type Answer = (args: Record<string, unknown>, signal: AbortSignal) => unknown;

/** @param answers what a call of a tool gives: a result as the protocol has it, as sent */
export async function startScriptedServer(
  tools: Listed[],
  answers: Record<string, Answer> = {},
): Promise<ScriptedServer> {
  let listed = tools;
  const sessions = new Map<string, { server: Server; transport: StreamableHTTPServerTransport }>();

  const openSession = async () => {
    const server = new Server({ name: 'scripted', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    // Sent as they are, also those that break the protocol.
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed }) as never);
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
      scripted.calls.push(params.name);
      signal.addEventListener('abort', () => scripted.cancelled.push(params.name));
      const answer = answers[params.name] ?? (() => ({ content: [{ type: 'text', text: params.name }] }));
      return (await answer(params.arguments ?? {}, signal)) as never;
    });
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
      onsessionclosed: () => void (scripted.endedSessions += 1),
    });
    await server.connect(transport as Transport);
    return transport;
  };

  const http = createServer(async (request, response) => {
    scripted.headers.push(request.headers);
    if (scripted.status !== undefined) {
      response.writeHead(scripted.status).end('no');
      return;
    }
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) {
      response.writeHead(404).end();
      return;
    }
    await (known?.transport ?? (await openSession())).handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = `127.0.0.1:${portOf(http)}`;

  const scripted: ScriptedServer = {
    url: `http://${address}/mcp`,
    address,
    headers: [],
    calls: [],
    cancelled: [],
    endedSessions: 0,
    status: undefined,
    async setTools(tools) {
      listed = tools;
      for (const { server } of sessions.values()) await server.sendToolListChanged().catch(() => {});
    },
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return scripted;
}
