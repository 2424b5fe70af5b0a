/** Servers in Java, C#, Go and Python write null for a field that they do not have. For the protocol's own fields that is absent. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { isRecord } from '../core/record.ts';

/** What is in these is the tool's own, where null is a value. */
const OF_THE_TOOL = new Set(['structuredContent', '_meta', 'const', 'default', 'enum', 'examples']);
/** Of a schema: null itself is a value here. */
const VALUES = new Set(['const', 'default']);

/** @returns the value without fields that are null, however deep they stand */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([name, field]) => field !== null || VALUES.has(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, OF_THE_TOOL.has(name) ? field : withoutNulls(field)]));
}

/** Hands on the answers of a server without nulls, before the SDK judges them. */
export function readNullAsAbsent(transport: Transport): Transport {
  let handler: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => handler,
    set(next: Transport['onmessage']) {
      handler =
        next &&
        ((message, extra) =>
          next(
            'result' in message ? { ...message, result: ResultSchema.parse(withoutNulls(message.result)) } : message,
            extra,
          ));
    },
  });
  return transport;
}
