/**
 * A model provider on loopback that speaks the OpenAI chat completions protocol, streaming, over real HTTP. Each
 * request takes the next scripted reply; one that was not scripted is answered 500, so a test notices a call too many.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { itemAt } from '../../../src/platform/core/present.ts';
import { portOf } from '../processes/listening.ts';

export interface ChatRequest {
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: { model: string; messages: { role: string }[]; tools?: { function: { name: string } }[] } & Record<
    string,
    unknown
  >;
  /** The body as it came. */
  text: string;
  /** Resolves when the connection of this request is closed, by either side. */
  closed: Promise<void>;
}

export type Reply = (response: ServerResponse, request: ChatRequest) => void;

const event = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** An event as Anthropic, and OpenAI's responses, send it: with its name. */
export const namedEvent = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\n${event(data)}`;

const chunk = (delta: unknown, finishReason: string | null = null) =>
  event({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
}

const usageChunk = ({ inputTokens, outputTokens, cachedTokens }: Usage) =>
  event({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices: [],
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    },
  });

const USAGE: Usage = { inputTokens: 12, outputTokens: 3 };

/** A vector for each text of a request to /embeddings. */
export const embeddings =
  (vectorOf: (text: string) => number[]): Reply =>
  (response, { body }) => {
    const texts = [body.input].flat() as string[];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        object: 'list',
        model: body.model,
        data: texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })),
        usage: { prompt_tokens: texts.length, total_tokens: texts.length },
      }),
    );
  };

/** Streams the events and ends the reply. */
export const sse =
  (...events: string[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const each of events) response.write(each);
    response.end();
  };

/** A whole answer in several chunks; `usage: null` leaves the usage out, as some servers do. */
export const answer = (text: string, usage: Usage | null = USAGE): Reply =>
  answerIn(text.match(/[^]{1,7}/gu) ?? [], usage);

/** An answer that the limit of output tokens cuts off. */
export const cutOff = (text: string): Reply => answerIn([text], USAGE, 'length');

/** The same, in these chunks. */
export const answerIn = (pieces: readonly string[], usage: Usage | null = USAGE, end = 'stop'): Reply =>
  sse(
    ...pieces.map((piece) => chunk({ content: piece })),
    chunk({}, end),
    ...(usage ? [usageChunk(usage)] : []),
    event('[DONE]'),
  );

/** Of a fragment of arguments: as providers send them, but for long ones. */
const FRAGMENT = 5;
const FRAGMENTS = 1_000;

/** Tool calls whose arguments come in fragments, as providers send them. `arguments` as text may be malformed. */
export const callTools = (...calls: ToolCall[]): Reply => callToolsFor(USAGE, ...calls);

interface ToolCall {
  id: string;
  name: string;
  arguments: unknown;
}

export const callToolsFor = (usage: Usage, ...calls: ToolCall[]): Reply =>
  sse(
    ...calls.flatMap(({ id, name, arguments: args }, index) => {
      const text = typeof args === 'string' ? args : JSON.stringify(args);
      const length = Math.max(FRAGMENT, Math.ceil(text.length / FRAGMENTS));
      const pieces = text.match(new RegExp(`[^]{1,${length}}`, 'gu')) ?? [];
      return [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ];
    }),
    chunk({}, 'tool_calls'),
    usageChunk(usage),
    event('[DONE]'),
  );

/** An answer that comes piece by piece, each when `isDue` resolves for it. */
export const answerWhen =
  (pieces: readonly string[], isDue: (piece: string) => Promise<void>): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void (async () => {
      for (const piece of pieces) {
        await isDue(piece);
        response.write(chunk({ content: piece }));
      }
      response.end(chunk({}, 'stop') + usageChunk(USAGE) + event('[DONE]'));
    })();
  };

/** An error reply in the protocol's shape. */
export const refuse =
  (
    status: number,
    error: { message: string; code?: string; type?: string },
    headers: Record<string, string> = {},
  ): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error }));
  };

/** Never answers. */
export const hang = (): Reply => () => {};

/** Begins a reply and then says nothing more. */
export const stall =
  (text: string): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: text }));
  };

/** Begins a reply, then breaks the connection. */
export const reset =
  (text: string): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: text }), () => response.socket?.resetAndDestroy());
  };

/** Begins a reply and ends it without a finish reason, as a crashed backend behind a proxy does. */
export const truncate = (text: string): Reply => sse(chunk({ content: text }));

/** An error in a stream that had begun. */
export const failInStream = (message: string): Reply => sse(chunk({ content: 'Once' }), event({ error: { message } }));

export interface OpenAiServer {
  /** With `/v1`, as OPENAI_COMPATIBLE_BASE_URL takes it. */
  baseUrl: string;
  requests: ChatRequest[];
  /** Adds to the replies still to be given. */
  script(...replies: Reply[]): void;
  /** Answers whatever is not scripted. */
  otherwise(reply: Reply): void;
  /** Resolves with the request of that number, from 1, once it has arrived. */
  received(count: number): Promise<ChatRequest>;
  /** Forgets requests and replies. */
  reset(): void;
  close(): Promise<void>;
}

export async function startOpenAiServer(): Promise<OpenAiServer> {
  const unscripted = refuse(500, { message: 'the test scripted no reply for this request' });
  const requests: ChatRequest[] = [];
  let replies: Reply[] = [];
  let fallback = unscripted;
  let waiting: { count: number; resolve: (request: ChatRequest) => void }[] = [];

  const server = createServer((incoming, response) => {
    // The list of models, by which a key is checked: no call of a model, and not scripted.
    if (incoming.method === 'GET') return void response.end('{"data":[]}');
    const closed = once(response, 'close').then(() => {});
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (data: string) => (text += data));
    incoming.on('end', () => {
      const request: ChatRequest = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: JSON.parse(text),
        text,
        closed,
      };
      requests.push(request);
      (replies.shift() ?? fallback)(response, request);
      waiting = waiting.filter(({ count, resolve }) => {
        if (requests.length < count) return true;
        resolve(itemAt(requests, count - 1));
        return false;
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    script: (...more) => void replies.push(...more),
    otherwise: (reply) => void (fallback = reply),
    received: (count) =>
      new Promise((resolve) => {
        const there = requests[count - 1];
        if (there) resolve(there);
        else waiting.push({ count, resolve });
      }),
    reset() {
      requests.length = 0;
      replies = [];
      waiting = [];
      fallback = unscripted;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
