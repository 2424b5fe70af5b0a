/** Server-sent events as a client reads them. */
import { EventEmitter, once } from 'node:events';
import { present } from '../../../src/platform/core/present.ts';

/** As `call` reads it where a test asks every endpoint. */
export const EVENT_STREAM = 'text/event-stream';

// What a test expects of an event is what its assertions say.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export interface SentEvent<Data = any> {
  id?: string;
  event: string;
  data: Data;
}

/** What is in whole events of a stream; comments are nothing. */
export const eventsIn = (text: string): SentEvent[] =>
  text.split('\n\n').flatMap((block) => {
    const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/, 2) as [string, string]));
    const data = fields.get('data');
    if (data === undefined) return [];
    const id = fields.get('id');
    return [
      { ...(id !== undefined && { id }), event: fields.get('event') ?? 'message', data: JSON.parse(data) as unknown },
    ];
  });

export interface OpenStream {
  response: Response;
  /** All that has come. */
  events: SentEvent[];
  /** The bytes as text. */
  text(): string;
  /** The first that has come, or comes, for which this holds. */
  first(isIt: (event: SentEvent) => boolean): Promise<SentEvent>;
  /** Resolves when the server has ended it, or the connection broke. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Connects, and reads until it is closed. */
export async function openStream(url: string, headers: Record<string, string>): Promise<OpenStream> {
  const connection = new AbortController();
  const response = await fetch(url, { headers: { accept: EVENT_STREAM, ...headers }, signal: connection.signal });
  const events: SentEvent[] = [];
  const more = new EventEmitter().setMaxListeners(0);
  let text = '';
  const read = async (): Promise<void> => {
    let rest = '';
    for await (const chunk of present(response.body).pipeThrough(new TextDecoderStream())) {
      text += chunk;
      rest += chunk;
      const end = rest.lastIndexOf('\n\n') + 2;
      if (end < 2) continue;
      events.push(...eventsIn(rest.slice(0, end)));
      rest = rest.slice(end);
      more.emit('events');
    }
  };
  let isOver = false;
  let why = 'by the server';
  const ended = read()
    .catch((error: unknown) => (why = String(error)))
    .then(() => {
      isOver = true;
      more.emit('events');
    });
  return {
    response,
    events,
    ended,
    text: () => text,
    async first(isIt) {
      for (let from = 0; ;) {
        const found = events.slice(from).find(isIt);
        if (found) return found;
        from = events.length;
        if (isOver) {
          const last = JSON.stringify(events.slice(-3));
          throw new Error(`the stream ended before, ${why}, after ${events.length} events; the last: ${last}`);
        }
        await once(more, 'events');
      }
    },
    async close() {
      connection.abort();
      await ended;
    },
  };
}
