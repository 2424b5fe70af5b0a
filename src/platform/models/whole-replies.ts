/**
 * Some servers of the OpenAI chat protocol answer a request for a stream with the whole reply at once, as one JSON value.
 * It is read as a stream of one event, so that what comes after knows one way of answering only.
 */
import { fieldsOf, isRecord } from '../core/record.ts';
import { parseJson } from '../core/json.ts';
import { mended } from './mended-lines.ts';

/** Makes a `fetch` whose answers are streams where they are replies. What `fetch` limits stays limited. */
export const streaming = (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  (async (url: string | URL, init?: RequestInit) => {
    const answer = await fetch(url, init);
    const isJson = /^application\/json\b/i.test(answer.headers.get('content-type') ?? '');
    if (!answer.ok || !isJson || !isStreamWanted(init)) return answer;
    const headers = new Headers(answer.headers);
    headers.set('content-type', 'text/event-stream');
    // They tell of the body as it came.
    for (const name of ['content-length', 'content-encoding']) headers.delete(name);
    return new Response(eventsOf(await answer.text()), { status: answer.status, headers });
  }) as typeof globalThis.fetch;

const isStreamWanted = (init: RequestInit | undefined): boolean =>
  typeof init?.body === 'string' && fieldsOf(parseJson(init.body)).stream === true;

function eventsOf(text: string): string {
  const reply = asChunk(text);
  return `${mended(`data: ${reply}`)}\n\ndata: [DONE]\n\n`;
}

/** @returns one line; what is no reply (an error with status 200) is passed on as it is, for the SDK to say so */
function asChunk(text: string): string {
  let whole: unknown;
  try {
    whole = parseJson(text);
  } catch {
    return text.replace(/\s+/g, ' ');
  }
  const { choices, ...rest } = fieldsOf(whole);
  if (!Array.isArray(choices)) return JSON.stringify(whole);
  return JSON.stringify({ ...rest, object: 'chat.completion.chunk', choices: choices.map(asDelta) });
}

/** A message is a delta whose calls have a place in their list. */
function asDelta(choice: unknown): unknown {
  const { message, ...rest } = fieldsOf(choice);
  if (!isRecord(message)) return choice;
  const { tool_calls: calls, ...words } = message;
  const placed = Array.isArray(calls) ? calls.map((call, index) => ({ index, ...fieldsOf(call) })) : undefined;
  return { ...rest, delta: { ...words, ...(placed && { tool_calls: placed }) } };
}
