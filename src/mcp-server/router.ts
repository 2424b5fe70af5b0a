/**
 * Offers the service as an MCP server: streamable HTTP at one address, without sessions, each request answered by
 * itself. A key may see and do here what it may on the public API.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import express, { type Request, type RequestHandler } from 'express';
import type { Log } from '../platform/core/log.ts';
import { Problem } from '../platform/core/problem.ts';
import { urgently } from '../platform/db/client.ts';
import type { Authenticate } from '../platform/http/app.ts';
import type { Caller, Route } from '../platform/http/endpoint.ts';
import { servedTools, type ServedTool } from './tools.ts';

export interface McpServerOptions {
  routes: readonly Route[];
  authenticate: Authenticate;
  /** The public address of the gateway, whose own pages may call. */
  baseUrl: string | undefined;
  log: Log;
}

const VERSION = '1.0.0';
/** Every JSON body has this limit. */
const MAX_BODY_BYTES = 1024 * 1024;
const INSTRUCTIONS =
  'Runs AI agents. For one task: list_agents, dispatch_run, then get_run until it has ended. For a piece of work in ' +
  'phases: list_workflows, start_project, then get_project.';

/** Mount it at `/mcp` of the gateway. */
export function mcpRouter({ routes, authenticate, baseUrl, log }: McpServerOptions): express.Router {
  const tools = servedTools(routes);
  const validator = new AjvJsonSchemaValidator();

  const serverFor = (caller: Caller, requestId: unknown): Server => {
    const server = new Server(
      { name: 'agent-orchestration-service', version: VERSION },
      // Made once: it is for what a server asks of its client, which this one never does.
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: validator },
    );
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(({ call: _, ...tool }) => tool) }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }) => {
      const tool = tools.find((candidate) => candidate.name === name);
      if (!tool) throw new McpError(ErrorCode.InvalidParams, `unknown tool: ${name.slice(0, 100)}`);
      return call(tool, caller, args).catch((error: unknown) => {
        const problem = error instanceof Problem ? error : new Problem('internal_error');
        if (problem !== error) log.error({ err: error, request_id: requestId, tool: name }, 'a tool call failed');
        return refusal(problem);
      });
    });
    return server;
  };

  const router = express.Router({ caseSensitive: true });
  router.use('/', refuseForeignOrigin(baseUrl), async (request, response, next) => {
    response.locals.caller = await urgently(() => authenticate('api-key', request));
    next();
  });
  router.post('/', async (request, response) => {
    const server = serverFor(response.locals.caller as Caller, request.id);
    // Without a session nothing is kept from one request to the next, and any process can answer it.
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: true,
      maxRequestBodySize: MAX_BODY_BYTES,
    });
    response.on('close', () => void server.close());
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response);
  });
  // No stream of notifications and no session to end: the protocol asks for this answer.
  router.all('/', (_request, response) => {
    response.status(405).set('allow', 'POST').json({ detail: 'method_not_allowed' });
  });
  return router;
}

async function call(tool: ServedTool, caller: Caller, args: Record<string, unknown>): Promise<CallToolResult> {
  const result = await tool.call(caller, args);
  return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
}

const refusal = ({ code, detail }: Problem): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: sentence(code, detail) }],
  structuredContent: { code, detail },
});

/** A model reads it, so the mistakes follow one another in words. */
function sentence(code: string, detail: unknown): string {
  if (typeof detail === 'string') return detail;
  if (code !== 'validation') return `${code}: ${JSON.stringify(detail)}`;
  const faults = detail as { loc: PropertyKey[]; msg: string }[];
  return faults.map(({ loc, msg }) => `${loc.slice(1).join('.') || 'arguments'}: ${msg}`).join('; ');
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A name on the internet may come to mean this address; a page of it must not reach the server through its visitor. */
const refuseForeignOrigin = (baseUrl: string | undefined): RequestHandler => {
  const own = baseUrl === undefined ? undefined : new URL(baseUrl).origin;
  const isForeign = ({ headers: { origin } }: Request): boolean => {
    if (origin === undefined) return false;
    if (!URL.canParse(origin)) return true;
    const url = new URL(origin);
    return url.origin !== own && !LOOPBACK.has(url.hostname);
  };
  return (request, _response, next) => {
    if (isForeign(request)) throw new Problem('foreign_origin');
    next();
  };
};
