/**
 * Times and traces the calls of tools: which tool, of what kind, and how it ended, never its arguments or its result.
 */
import type { Meters } from '../../platform/observability/meters.ts';
import { inSpan } from '../../platform/observability/spans.ts';
import { CUSTOM_MODULE, ToolError, type Tool } from './model.ts';
import type { ToolRegistry } from './registry.ts';

const kindOf = ({ module, kind }: Tool): string => {
  if (module === CUSTOM_MODULE) return kind ?? 'custom';
  return module.startsWith('mcp.') ? 'mcp' : 'builtin';
};

export const meteredTools = (registry: ToolRegistry, meters: Pick<Meters, 'toolCalls'>): ToolRegistry => ({
  ...registry,
  async get(customerId, slug) {
    const tool = await registry.get(customerId, slug);
    return tool && metered(tool, meters);
  },
});

function metered(tool: Tool, { toolCalls }: Pick<Meters, 'toolCalls'>): Tool {
  const kind = kindOf(tool);
  return {
    ...tool,
    execute(args, context) {
      const end = toolCalls.startTimer({ kind });
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool.slug,
        'gen_ai.tool.type': kind,
        'gen_ai.tool.call.id': context.callId,
      };
      return inSpan(`execute_tool ${kind}`, { attributes }, async () => {
        try {
          const value = await tool.execute(args, context);
          end({ outcome: 'succeeded' });
          return value;
        } catch (error) {
          end({ outcome: outcomeOf(error, context.signal) });
          throw error;
        }
      });
    },
  };
}

/** `refused`: the model is told why and can do better; `failed`: the call is tried again, where it may be. */
function outcomeOf(error: unknown, { aborted }: AbortSignal): string {
  if (error instanceof ToolError) return 'refused';
  return aborted ? 'cancelled' : 'failed';
}
