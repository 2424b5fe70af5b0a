/**
 * Providers take letters, digits, `_` and `-` in a tool's name, 64 at most; the product's names have dots
 * (`mcp.github.search`), and arguments of tools have any name (`$filter`, `tags[]`). A name goes out in a form that providers
 * take and comes back as it was.
 */
import type { ModelMessage } from 'ai';
import { isRecord } from '../core/record.ts';
import { alternating } from './alternating.ts';
import { wireName } from './wire-name.ts';
import { toWireSchema } from './tool-schemas.ts';
import type { ModelCall } from './types.ts';

/** @returns the messages in turns, and with names of tools and arguments, that providers take */
export const toWire = (messages: readonly ModelMessage[], declared: WireTools): ModelMessage[] =>
  alternating(messages).map((message) => {
    if ((message.role !== 'assistant' && message.role !== 'tool') || typeof message.content === 'string')
      return message;
    const content = message.content.map((part) => {
      if (!('toolName' in part)) return part;
      const toolName = wireName(part.toolName);
      const tool = declared.get(toolName);
      if (part.type !== 'tool-call' || !tool) return { ...part, toolName };
      return { ...part, toolName, input: renamedWithin(part.input, tool.wireNames) };
    });
    return { ...message, content } as ModelMessage;
  });

/** A tool as a provider is told of it. */
interface WireTool {
  /** The product's. */
  name: string;
  description: string;
  schema: Record<string, unknown>;
  /** Of arguments whose own names providers refuse. */
  wireNames: ReadonlyMap<string, string>;
  ownNames: ReadonlyMap<string, string>;
}

/** By the names that providers are told. Of two that have the same one there the last is it. */
export type WireTools = ReadonlyMap<string, WireTool>;

export const wireTools = (tools: ModelCall['tools']): WireTools =>
  new Map(
    tools.map(({ name, description, parameters }) => {
      const { schema, wireNames } = toWireSchema(parameters);
      const ownNames = new Map([...wireNames].map(([own, wire]) => [wire, own]));
      return [wireName(name), { name, description, schema, wireNames, ownNames }];
    }),
  );

/** @returns the arguments, in which fields have these names instead, however deep they stand */
export function renamedWithin(value: unknown, names: ReadonlyMap<string, string> = new Map()): unknown {
  if (names.size === 0) return value;
  if (Array.isArray(value)) return value.map((each) => renamedWithin(each, names));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [names.get(name) ?? name, renamedWithin(field, names)]),
  );
}
