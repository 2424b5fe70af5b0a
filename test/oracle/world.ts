/**
 * The world outside, as the oracle has it: one server that is the model of every agent and the receiver of everything that
 * is posted. Each output of the model is unlike any other, so what a prompt or a post was made of can be read in it.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One call of the model, as it came over the wire. */
export interface ModelCall {
  /** Of the project, as its brief says it. */
  key: string;
  /** `phase/step`; `planner` of an edit session. */
  step: string;
  /** What its output is known by. */
  made: string;
  /** The outputs that stood in its prompt, by what they are known by. */
  shown: ReadonlySet<string>;
  prompt: string;
  /** What came of it; undefined until it was answered. */
  answer?: Answer;
}

/** Something posted, with the outputs that stood in it. */
export interface Post {
  key: string;
  step: string;
  held: ReadonlySet<string>;
  body: string;
}

export type Answer = { kind: 'output' } | { kind: 'reject'; reason: string } | { kind: 'fail' };
/** Decides what a call is answered with, and when. */
export type Brain = (call: ModelCall) => Promise<Answer>;

const MARK = /⟦[\w/-]+#\d+⟧/g;
export const marksIn = (body: string): Set<string> => new Set(body.match(MARK) ?? []);

/** Says to the model which step it is; stands in the instructions of a step. */
export const stepMark = (phase: string, step: string): string => `You are step <<${phase}/${step}>>.`;
/** Says to the model which project it works for; stands in the brief. */
export const keyMark = (key: string): string => `Case <<key ${key}>>.`;
/** Has the planner of an edit session propose this plan. */
export const planMark = (plan: unknown): string => `<<plan ${Buffer.from(JSON.stringify(plan)).toString('base64')}>>`;

export interface World {
  /** As OPENAI_COMPATIBLE_BASE_URL takes it. */
  modelUrl: string;
  /** Where posts of a project go: its `publish_url`. */
  postUrl(key: string): string;
  hostAndPort: string;
  calls: readonly ModelCall[];
  posts: readonly Post[];
  /** Answers the calls of this project. */
  think(key: string, brain: Brain): void;
  close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const calls: ModelCall[] = [];
  const posts: Post[] = [];
  const brains = new Map<string, Brain>();

  async function asModel(body: string, response: ServerResponse): Promise<void> {
    const { messages } = JSON.parse(body) as { messages: { content: unknown }[] };
    const prompt = messages.map(({ content }) => textOf(content)).join('\n');
    const key = /<<key ([\w-]+)>>/.exec(prompt)?.[1] ?? '';
    const plan = /<<plan ([\w+/=]+)>>/.exec(prompt)?.[1];
    const step = plan === undefined ? (/You are step <<([\w/-]+)>>/.exec(prompt)?.[1] ?? '') : 'planner';
    const call: ModelCall = { key, step, made: `⟦${step}#${calls.length}⟧`, shown: marksIn(prompt), prompt };
    calls.push(call);
    const answer = (await brains.get(key)?.(call)) ?? { kind: 'output' };
    call.answer = answer;
    if (answer.kind === 'fail') return void response.writeHead(400).end('{"error":{"message":"as it was told"}}');
    stream(response, plan === undefined ? outputOf(call, answer) : Buffer.from(plan, 'base64').toString());
  }

  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      if (request.method === 'GET') return void response.end('{"data":[]}');
      const [, what, key = ''] = (request.url ?? '').split('/');
      if (what === 'v1') return asModel(body, response);
      posts.push({ key, step: what ?? '', held: marksIn(body), body });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"taken":true}');
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostAndPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    modelUrl: `http://${hostAndPort}/v1`,
    postUrl: (key) => `http://${hostAndPort}/post/${key}`,
    hostAndPort,
    calls,
    posts,
    think: (key, brain) => void brains.set(key, brain),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('\n') : '';
}

/** A verdict where one is asked for: what judges say is JSON. */
function outputOf({ made, prompt }: ModelCall, answer: Answer): string {
  const words = answer.kind === 'reject' ? answer.reason : made;
  if (!prompt.includes('You judge.')) return `Made ${made}.`;
  return JSON.stringify(
    prompt.includes('"required":["passed"')
      ? { passed: answer.kind !== 'reject', findings: words }
      : { decision: answer.kind === 'reject' ? 'rejected' : 'approved', feedback: words },
  );
}

function stream(response: ServerResponse, said: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (more: object) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'oracle', ...more })}\n\n`,
    );
  send({ choices: [{ index: 0, delta: { content: said }, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
  response.end('data: [DONE]\n\n');
}
