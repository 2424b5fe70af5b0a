/**
 * Each provider by capability, in both directions: what it is sent, and what is read of its answer. The wires are in
 * `test/support/model-wires/capabilities`, in the shapes of the providers' documentation. The table of docs/operate/models.md has
 * a cell for each test, which `test/docs/models-table.test.ts` checks.
 */
import { expect, test } from '@jest/globals';
import type { ModelMessage } from 'ai';
import { present } from '../../../src/platform/core/present.ts';
import { seesPictures } from '../../../src/platform/models/pictures.ts';
import type { ModelCall, ShownPicture } from '../../../src/platform/models/types.ts';
import { CELLS } from '../../support/model-wires/capabilities/all.ts';
import {
  CACHE_KEY,
  PIXELS,
  replied,
  SCHEMA,
  type Capability,
  type Chunks,
  type Wire,
} from '../../support/model-wires/capabilities/wire.ts';
import { KEY } from '../../support/model-wires/fixture.ts';
import { failureOf, server, toldNext, useProvider, user, wired } from './calls.ts';

useProvider();

const picture: ShownPicture = {
  mediaType: 'image/png',
  bytes: Buffer.from(PIXELS, 'base64'),
  width: 10,
  height: 10,
};
const answered: ModelMessage[] = [
  user('What is 2 + 2?'),
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_1_0', toolName: 'add', input: { a: 2 } }] },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'call_1_0',
        toolName: 'add',
        output: { type: 'json', value: { filename: 'a.png' } },
      },
    ],
  },
];

const request = () => present(server.requests.at(-1));

/** What asks for JSON of a schema; a tool that the SDK would make of it counts as well. */
const IN_THE_PROTOCOL = /"(?:responseMimeType|response_format|format|output_config)":|"name":"json"/;

/** A turn that calls tools, and the next one, which is told what came of them. */
async function inTwoTurns(
  wire: Wire,
  { turn, sent, back }: { turn: Chunks; sent: object; back: object },
  more: Partial<ModelCall> = {},
) {
  const { given, ask } = wired(wire);
  server.script(replied(turn, wire.contentType), replied(wire.cases.stream.turn.flat(), wire.contentType));
  const reply = await ask(more);
  expect(request().body).toMatchObject(sent);
  expect((await ask({ ...more, messages: await toldNext(reply, given.resolved) })).text).toBe('One two.');
  expect(request().body).toMatchObject(back);
  return reply;
}

const PLAYS: Readonly<Record<Capability, (wire: Wire) => Promise<void>>> = {
  async stream(wire) {
    const { turn, sent } = wire.cases.stream;
    const [first, rest] = turn;
    const { ask } = wired(wire);
    let heard = '';
    let isHeard = (): void => {};
    const hearing = new Promise<void>((resolve) => (isHeard = resolve));
    server.script((response) => {
      response.writeHead(200, { 'content-type': wire.contentType ?? 'text/event-stream' });
      for (const chunk of first) response.write(chunk);
      void hearing.then(() => {
        for (const chunk of rest) response.write(chunk);
        response.end();
      });
    });
    const onText = (piece: string) => {
      heard += piece;
      if (heard === 'One ') isHeard();
    };
    expect(await ask({ onText })).toMatchObject({ text: 'One two.', finishReason: 'stop' });
    expect(heard).toBe('One two.');
    expect(request()).toMatchObject({ path: wire.path, headers: wire.headers, body: sent });
  },

  async tools(wire) {
    const reply = await inTwoTurns(wire, wire.cases.tools);
    expect(reply).toMatchObject({
      text: '',
      toolCalls: [{ tool: 'add', arguments: { a: 2 } }],
      finishReason: 'tool-calls',
    });
  },

  async 'parallel tools'(wire) {
    const { toolCalls } = await inTwoTurns(wire, wire.cases['parallel tools']);
    expect(toolCalls).toMatchObject([
      { tool: 'add', arguments: { a: 2 } },
      { tool: 'add', arguments: { a: 3 } },
    ]);
    expect(new Set(toolCalls.map(({ callId }) => callId)).size).toBe(2);
  },

  async schema(wire) {
    const { turn, sent, isInWords = 'never' } = wire.cases.schema;
    for (const tools of [[], wired(wire).given.tools]) {
      server.script(replied(turn, wire.contentType));
      const reply = await wired(wire).ask({ outputSchema: SCHEMA, tools });
      expect(JSON.parse(reply.text)).toEqual({ sum: 4 });
      const { body, text } = request();
      expect(text).toContain('It must validate against this JSON Schema');
      const isOnWire = isInWords === 'never' || (isInWords === 'with tools' && tools.length === 0);
      expect({ tools, isOnWire: IN_THE_PROTOCOL.test(text) }).toEqual({ tools, isOnWire });
      if (isOnWire) expect(body).toMatchObject(sent);
    }
  },

  async reasoning(wire) {
    const reply = await inTwoTurns(wire, wire.cases.reasoning, { effort: 'high', maxOutputTokens: 4_000 });
    expect(reply).toMatchObject({ text: '', toolCalls: [{ tool: 'add', arguments: { a: 2 } }] });
    expect(reply.reasoning?.map(({ text }) => text).join('')).toBe('I add.');
  },

  async 'prompt cache'(wire) {
    const { turn, sent, usage, never } = wire.cases['prompt cache'];
    server.script(replied(turn, wire.contentType));
    const reply = await wired(wire).ask({ messages: answered, cacheKey: CACHE_KEY });
    expect(reply.usage).toMatchObject(usage);
    expect(request().body).toMatchObject(sent);
    if (never) expect(request().text).not.toMatch(never);
  },

  async pictures(wire) {
    const { models, given, ask } = wired(wire);
    expect(seesPictures(given.resolved, given.credentials, models.catalogue())).toBe(true);
    server.script(replied(wire.cases.stream.turn.flat(), wire.contentType));
    await ask({ messages: answered, pictures: new Map([['call_1_0', [picture]]]) });
    expect(request().body).toMatchObject(wire.cases.pictures.sent);
    expect(request().text.split(PIXELS)).toHaveLength(2);
  },

  async usage(wire) {
    const { turn, usage } = wire.cases.usage;
    server.script(replied(turn, wire.contentType));
    expect((await wired(wire).ask()).usage).toEqual(usage);
  },

  async errors(wire) {
    for (const [what, reply, code, more = {}] of wire.cases.errors.failures) {
      server.reset();
      server.script(reply);
      const { given, models } = wired(wire);
      const failure = await failureOf(given, models);
      expect({ what, ...told(failure), requests: server.requests.length }).toEqual({
        what,
        ...told(failure),
        code,
        ...more,
        requests: 1,
      });
      expect(failure.message).not.toContain(KEY);
    }
  },
};

const told = ({ code, message, retryable, retryAfterMs }: Awaited<ReturnType<typeof failureOf>>) => ({
  code,
  message,
  retryable,
  retryAfterMs,
});

// Guards: what docs/operate/models.md tells operators of each provider.
test.each(CELLS)('$name', ({ capability, wire }) => PLAYS[capability](wire));
