/** Reads `text/event-stream` with `fetch`, which unlike `EventSource` sends any header, in Node as in browsers. */

export interface ServerSentEvent {
  /** The id of the event, or of the last one before it that had one. A stream resumes after it. */
  id: string;
  /** `message` where the service does not name the event. */
  event: string;
  data: string;
}

export interface StreamSignals {
  /** The service asks the client to wait this long before it connects again. */
  onRetry?: (ms: number) => void;
  /** Is called for anything that came, even a heartbeat. */
  onLife?: () => void;
  /** Each of them ends the reading. That of the request is not enough: Node may forget it while the answer still comes. */
  ends?: readonly AbortSignal[];
}

/** A longer line does not come from this service, and would fill the memory. */
const MAX_LINE_LENGTH = 16 * 2 ** 20;

/** Yields each complete event. One that the stream's end cuts off is dropped. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  { onRetry, onLife, ends = [] }: StreamSignals = {},
): AsyncGenerator<ServerSentEvent> {
  let id = '';
  let event = '';
  let data: string[] = [];
  for await (const line of linesOf(body, onLife, ends)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event || 'message', data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) onRetry?.(Number(value));
  }
}

async function* linesOf(
  body: ReadableStream<Uint8Array>,
  onLife: (() => void) | undefined,
  ends: readonly AbortSignal[],
): AsyncGenerator<string> {
  const reader = body.getReader();
  const end = () => void reader.cancel().catch(() => {});
  for (const signal of ends) signal.addEventListener('abort', end, { once: true });
  if (ends.some(({ aborted }) => aborted)) end();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onLife?.();
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop()!;
      if (rest.length > MAX_LINE_LENGTH) throw new Error('a line of the event stream is too long');
      yield* lines;
    }
  } finally {
    for (const signal of ends) signal.removeEventListener('abort', end);
    await reader.cancel().catch(() => {});
  }
}
