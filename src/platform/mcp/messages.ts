/**
 * Reads what servers send, before the SDK judges it. Servers in Java, C#, Go and Python write null for a field that they do not
 * have; for the protocol's own fields that is absent. The SDK says nothing to the caller of an answer that it cannot read, so
 * one of those is answered as an error in the server's place.
 */
import { ErrorCode, JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isTooDeep, parsedJson, TOO_DEEP } from '../core/json.ts';
import { fieldsOf, isRecord } from '../core/record.ts';

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

const failed = (id: unknown, message: string, code: unknown = undefined): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code: Number.isSafeInteger(code) ? code : ErrorCode.InternalError, message },
});

/** @returns a message as the protocol has it; undefined for what is none */
export function readMessage(sent: unknown): JSONRPCMessage | undefined {
  const { id, method, error, result } = fieldsOf(sent);
  const isAnswer = (typeof id === 'string' || typeof id === 'number') && method === undefined;
  const read = (value: unknown): JSONRPCMessage | undefined => JSONRPCMessageSchema.safeParse(value).data;
  if (!isAnswer) return isTooDeep(sent) ? undefined : read(withoutNulls(sent));
  if (isTooDeep(sent)) return read(failed(id, `its answer is ${TOO_DEEP}`));
  if (error !== null && error !== undefined) return read(failed(id, wordsOf(error), fieldsOf(error).code));
  return (
    (isRecord(result) ? read({ jsonrpc: '2.0', id, result: withoutNulls(result) }) : undefined) ??
    read(failed(id, UNREADABLE))
  );
}

const UNREADABLE = 'its answer cannot be understood';

/** Servers have been seen to send a text for an error, and texts for codes. */
function wordsOf(error: unknown): string {
  const { message } = fieldsOf(error);
  const words = typeof message === 'string' ? message : typeof error === 'string' ? error : '';
  return words || 'it failed and did not say why';
}

/**
 * @param ids of the requests that the text answers
 * @returns the text of one answer or of a list of them, as the protocol has it
 */
export function readAnswers(text: string, ids: readonly (string | number)[]): string {
  const sent = parsedJson(text);
  const answers = (Array.isArray(sent) ? sent : [sent]).flatMap((each) => readMessage(each) ?? []);
  const read = answers.length > 0 ? answers : ids.map((id) => failed(id, UNREADABLE));
  return JSON.stringify(read.length === 1 ? read[0] : read);
}

/** @returns the line of an event stream, with its message as the protocol has it */
export function readEventLine(line: string): string {
  const sent = parsedJson(/^data: ?(.*)$/.exec(line)?.[1] ?? '');
  const message = sent === undefined ? undefined : readMessage(sent);
  return message ? `data: ${JSON.stringify(message)}` : line;
}
