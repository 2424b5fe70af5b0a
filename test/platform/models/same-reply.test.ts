/**
 * A stream of events is read by us, and what is left of it by the SDK. The reply is the one that the SDK makes of the stream by
 * itself, which it reads where the answer does not say that it is a stream of events.
 */
import { describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import type { ModelFailure, ModelReply } from '../../../src/platform/models/types.ts';
import { WIRES } from '../../support/model-wires/capabilities/all.ts';
import type { Chunks, Wire } from '../../support/model-wires/capabilities/wire.ts';
import type { Reply } from '../../support/fakes/openai-server.ts';
import { drawn } from '../../support/runner/sizes.ts';
import { server, useProvider, wired } from './calls.ts';

useProvider();

/** Bedrock's frames are no text, and go to the SDK as they come. */
const wires = Object.values(WIRES).filter(({ contentType }) => contentType === undefined);

const turnsOf = ({ cases }: Wire): Record<string, Chunks> => ({
  stream: cases.stream.turn.flat(),
  tools: cases.tools.turn,
  'parallel tools': cases['parallel tools'].turn,
  schema: cases.schema.turn,
  reasoning: cases.reasoning.turn,
  'prompt cache': cases['prompt cache'].turn,
  usage: cases.usage.turn,
});

/** In parts of so many bytes, cut at this place. */
const written =
  (bytes: Buffer, size: number, contentType: string, cutAt = bytes.length): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': contentType });
    for (let at = 0; at < cutAt; at += size) response.write(bytes.subarray(at, Math.min(at + size, cutAt)));
    if (cutAt === bytes.length) response.end();
    else response.write('', () => setTimeout(() => response.destroy(), 5));
  };

interface Outcome {
  reply?: ModelReply;
  failure?: Pick<ModelFailure, 'code' | 'message' | 'retryable'>;
  heard: string;
}
/** Gemini tells none, and the SDK makes another one up each time. */
const withoutId = <Call extends { callId: string }>(call: Call): Call =>
  /^[a-zA-Z0-9]{16}$/.test(call.callId) ? { ...call, callId: 'made up' } : call;

async function outcomeOf(wire: Wire, reply: Reply): Promise<Outcome> {
  server.script(reply);
  let heard = '';
  const onText = (piece: string) => void (heard += piece);
  return wired(wire)
    .ask({ onText, effort: 'high', maxOutputTokens: 4_000 })
    .then(
      (found) => ({ reply: { ...found, toolCalls: found.toolCalls.map(withoutId) }, heard }),
      ({ code, message, retryable }: ModelFailure) => ({ failure: { code, message, retryable }, heard }),
    );
}

describe.each(wires.map((wire) => [wire.label, wire] as const))('%s', (_, wire) => {
  test.each(Object.entries(turnsOf(wire)))('%s', async (__, chunks) => {
    const bytes = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
    for (const size of drawn('parts of a reply', [1, 7, 64, 100_000], 2)) {
      const theirs = await outcomeOf(wire, written(bytes, size, 'application/octet-stream'));
      expect(present(theirs.reply)).toMatchObject({ usage: expect.anything() });
      expect(await outcomeOf(wire, written(bytes, size, 'text/event-stream'))).toEqual(theirs);
    }
  });

  // Guards: of a stream that ends too early the same is told, wherever it ends.
  test('cut anywhere', async () => {
    const bytes = Buffer.concat(wire.cases.reasoning.turn.map((chunk) => Buffer.from(chunk)));
    for (const tenth of drawn('tenths of a reply', [1, 2, 3, 4, 5, 6, 7, 8, 9], 4)) {
      const cutAt = Math.floor((bytes.length * tenth) / 10);
      const theirs = await outcomeOf(wire, written(bytes, 64, 'application/octet-stream', cutAt));
      expect({ cutAt, ...(await outcomeOf(wire, written(bytes, 64, 'text/event-stream', cutAt))) }).toEqual({
        cutAt,
        ...theirs,
      });
    }
  });
});
