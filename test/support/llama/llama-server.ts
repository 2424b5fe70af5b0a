/**
 * llama.cpp behind the chat protocol of OpenAI, as a process of its own: streams, usage with the tokens that it had in its
 * cache, `json_schema` by a grammar, an end when the client hangs up. One call after another, on one thread: with more
 * threads than free cores llama.cpp waits for good.
 *
 * A model of this size does not decide when to call a tool. It calls the one that the last message of the user names, with
 * arguments of its own that a grammar keeps to the tool's schema.
 */
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { present } from '../../../src/platform/core/present.ts';
import { grammarOf } from './json-grammar.ts';
import { openModel, type Piece } from './llama-model.ts';

interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content?: string | { type: string; text?: string }[] | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}

interface Tool {
  function: { name: string; description?: string; parameters?: Record<string, unknown> };
}

interface ChatBody {
  model: string;
  messages: Message[];
  stream?: boolean;
  max_tokens?: number;
  temperature?: number;
  tools?: Tool[];
  response_format?: { type: string; json_schema?: { schema?: Record<string, unknown> } };
}

/** What came of a call, as `GET /calls` says it. Times are in milliseconds since the epoch. */
export interface ServedCall {
  messages: { role: string; content: string }[];
  receivedAt: number;
  /** When the first piece was sent. */
  firstAt?: number;
  endedAt?: number;
  text: string;
  tool?: string;
  isOfSchema: boolean;
  finish?: 'stop' | 'length' | 'tool_calls' | 'hung-up' | 'refused';
  promptTokens: number;
  cachedTokens: number;
  outputTokens: number;
}

const setting = (name: string): string => present(process.env[name], name);
const MODEL_NAME = 'smollm2';

const model = await openModel({
  library: pathToFileURL(setting('LLAMA_LIBRARY')).href,
  weights: setting('LLAMA_WEIGHTS'),
});
const calls: ServedCall[] = [];
let last: Promise<unknown> = Promise.resolve();

const server = createServer(async (request, response) => {
  if (request.url === '/calls') return reply(response, 200, calls);
  if (request.method === 'GET') return reply(response, 200, { object: 'list', data: [{ id: MODEL_NAME }] });
  const body: ChatBody = JSON.parse(await text(request));
  const call: ServedCall = {
    messages: body.messages.map((message) => ({ role: message.role, content: wordsOf(message) })),
    receivedAt: Date.now(),
    text: '',
    isOfSchema: body.response_format?.json_schema?.schema !== undefined,
    promptTokens: 0,
    cachedTokens: 0,
    outputTokens: 0,
  };
  calls.push(call);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  last = last
    .then(() => answer(body, call, response, gone.signal))
    .catch((error: unknown) => fail(call, response, error));
});
server.listen(Number(setting('LLAMA_PORT')), '127.0.0.1', () => process.stdout.write('listening\n'));
process.on('SIGTERM', () => process.exit(0));

async function answer(body: ChatBody, call: ServedCall, response: ServerResponse, gone: AbortSignal): Promise<void> {
  const tool = toolOf(body);
  if (tool) call.tool = tool.function.name;
  const schema = tool ? (tool.function.parameters ?? {}) : body.response_format?.json_schema?.schema;
  let grammar: string | undefined;
  try {
    grammar = schema && grammarOf(schema);
  } catch (error) {
    return refuse(call, response, `failed to make a grammar of the JSON schema in response_format: ${String(error)}`);
  }
  const turns: Piece[] = [
    ...body.messages.map(turnOf),
    ...(tool ? [{ role: 'system', text: instructionOf(tool) }] : []),
  ];
  const reading = model.read(turns);
  call.promptTokens = reading.tokens;
  if (reading.tokens >= model.contextSize) {
    const told = `the request exceeds the available context size (${reading.tokens} of ${model.contextSize} tokens)`;
    return refuse(call, response, told, 'exceed_context_size_error');
  }

  const stream = { response, isStreamed: body.stream === true, call };
  const generation = reading.write({
    ...(grammar !== undefined && { grammar }),
    maxTokens: Math.min(body.max_tokens ?? Infinity, model.contextSize - reading.tokens),
    temperature: body.temperature ?? 0.7,
    // Another for each call: of a reviewer that turns work down, the next look may be kinder.
    seed: Number(setting('LLAMA_SEED')) + calls.indexOf(call),
    gone,
  });
  for await (const piece of generation) {
    call.cachedTokens = piece.cachedTokens;
    call.outputTokens = piece.outputTokens;
    if (piece.end) call.finish = piece.end === 'stop' && tool ? 'tool_calls' : piece.end;
    if (piece.text === '' || gone.aborted) continue;
    call.firstAt ??= Date.now();
    call.text += piece.text;
    if (!tool) send(stream, { content: piece.text });
  }
  call.endedAt = Date.now();
  if (call.finish === 'hung-up') return;
  if (tool) {
    const made = { name: tool.function.name, arguments: call.text };
    send(stream, { tool_calls: [{ index: 0, id: `call_${calls.length}`, type: 'function', function: made }] });
  }
  finish(stream);
}

interface Stream {
  response: ServerResponse;
  isStreamed: boolean;
  call: ServedCall;
}

const chunk = (choices: unknown[], more: Record<string, unknown> = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-llama', object: 'chat.completion.chunk', created: 0, model: MODEL_NAME, choices, ...more })}\n\n`;

function send({ response, isStreamed }: Stream, delta: Record<string, unknown>): void {
  if (!isStreamed) return;
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk([{ index: 0, delta, finish_reason: null }]));
}

function finish({ response, isStreamed, call }: Stream): void {
  const usage = {
    prompt_tokens: call.promptTokens,
    completion_tokens: call.outputTokens,
    total_tokens: call.promptTokens + call.outputTokens,
    prompt_tokens_details: { cached_tokens: call.cachedTokens },
  };
  if (!isStreamed) {
    const choice = { index: 0, message: { role: 'assistant', content: call.text }, finish_reason: call.finish };
    return reply(response, 200, { object: 'chat.completion', model: MODEL_NAME, choices: [choice], usage });
  }
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk([{ index: 0, delta: {}, finish_reason: call.finish }]));
  response.end(`${chunk([], { usage })}data: [DONE]\n\n`);
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function refuse(call: ServedCall, response: ServerResponse, message: string, type = 'invalid_request_error'): void {
  call.finish = 'refused';
  call.endedAt = Date.now();
  reply(response, 400, { error: { code: 400, message, type } });
}

function fail(call: ServedCall, response: ServerResponse, error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  call.finish = 'refused';
  call.endedAt = Date.now();
  if (response.headersSent) response.destroy();
  else reply(response, 500, { error: { code: 500, message: String(error), type: 'server_error' } });
}

/** A tool that was called is not called again: what comes after its result is the answer. */
function toolOf({ messages, tools = [] }: ChatBody): Tool | undefined {
  const message = messages.at(-1);
  if (message?.role !== 'user') return undefined;
  return tools.find((tool) => wordsOf(message).includes(tool.function.name));
}

const instructionOf = ({ function: { name, description = '', parameters } }: Tool): string =>
  `Call the tool ${name} with JSON. ${description}\n${JSON.stringify(parameters ?? {})}`;

const wordsOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n');

/** In words of the template of these weights, which knows neither tools nor their results. */
function turnOf(message: Message): Piece {
  const called = (message.tool_calls ?? []).map(
    ({ function: made }) => `<tool_call>${JSON.stringify(made)}</tool_call>`,
  );
  const said = [wordsOf(message), ...called].filter(Boolean).join('\n');
  return message.role === 'tool'
    ? { role: 'user', text: `<tool_response>${said}</tool_response>` }
    : { role: message.role, text: said };
}
