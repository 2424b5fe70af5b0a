/** Answers what came to the MCP server, by the protocol's own SDK. */
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
import type { Request, Response } from 'express';
import type { Log } from '../platform/core/log.ts';
import { Problem } from '../platform/core/problem.ts';
import type { Caller } from '../platform/http/endpoint.ts';
import type { ServedTool } from './tools.ts';

const VERSION = '1.0.0';
/** Every JSON body has this limit. */
const MAX_BODY_BYTES = 1024 * 1024;
const INSTRUCTIONS =
  'Runs AI agents. For one task: list_agents, dispatch_run, then get_run until it has ended. For a piece of work in ' +
  'phases: list_workflows, start_project, get_project until it is completed, then list_artifacts and get_artifact.';

export interface McpServing {
  answer(caller: Caller, request: Request, response: Response): Promise<void>;
}

export function createServing(tools: readonly ServedTool[], log: Log): McpServing {
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

  return {
    async answer(caller, request, response) {
      const server = serverFor(caller, request.id);
      // Without a session nothing is kept from one request to the next, and any process can answer it.
      const transport = new StreamableHTTPServerTransport({
        enableJsonResponse: true,
        maxRequestBodySize: MAX_BODY_BYTES,
      });
      response.on('close', () => void server.close());
      await server.connect(transport as Transport);
      await transport.handleRequest(request, response);
    },
  };
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
