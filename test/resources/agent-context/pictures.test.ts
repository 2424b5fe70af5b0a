/** Which of the pictures that a run has read its model is shown, and what it is told of the others. */
import { expect, test } from '@jest/globals';
import sharp from 'sharp';
import { createPictures, PICTURE_NOTES } from '../../../src/resources/agent-context/pictures.ts';
import { modelMessages } from '../../../src/resources/agent-context/transcript.ts';
import { readCatalogue } from '../../../src/platform/models/known-models.ts';
import { FileNotFoundError } from '../../../src/platform/files/files.ts';
import type { ResolvedModel } from '../../../src/platform/models/types.ts';
import type { RunInTurn } from '../../../src/resources/runs/store/run-in-turn.ts';

const png = await sharp({ create: { width: 8, height: 4, channels: 3, background: 'red' } })
  .png()
  .toBuffer();
/** By the id of the attachment. */
const stored: Record<string, Buffer> = { a: png, b: png, c: png, d: png, e: png, damaged: Buffer.from('no picture') };
const loadPictures = createPictures({
  attachments: {
    findAttachment: async (customerId, id) =>
      customerId === 'acme' && id !== 'deleted'
        ? { filename: id, contentType: 'image/png', sizeBytes: 1, fileKey: id }
        : undefined,
  },
  files: {
    async get(key) {
      const bytes = stored[key];
      if (!bytes) throw new FileNotFoundError(key);
      return bytes;
    },
  },
  models: { catalogue: () => readCatalogue({}) },
});

const calls = (...results: unknown[]): RunInTurn['toolCalls'] =>
  results.map((result, position) => ({
    callId: `call_${position}`,
    turn: 1,
    position,
    tool: 'read_attachment',
    arguments: {},
    effect: 'read',
    status: 'succeeded',
    result,
  }));
const pictureOf = (id: string) => ({ id, kind: 'image', width: 8, height: 4 });
const load = (provider: ResolvedModel['provider'], toolCalls: RunInTurn['toolCalls'], customerId = 'acme') => {
  const resolved: ResolvedModel = {
    model: 'claude-sonnet-5',
    provider,
    tier: 'standard',
    rule: 'agent_default',
    enforce: false,
    reasoning: false,
    contextWindow: 200_000,
  };
  return loadPictures({ id: 'run', customerId, toolCalls }, resolved, {});
};
const notesOf = async (...given: Parameters<typeof load>) => Object.fromEntries((await load(...given)).notes);

// Guards: the latest pictures are shown, and the model is told how to see the others.
test('the latest of them are shown', async () => {
  const read = calls(...['a', 'b', 'c', 'd', 'e'].map(pictureOf), { id: 'x', kind: 'pdf', content: 'text' });
  const { shown, notes } = await load('anthropic', read);
  expect([...shown.keys()]).toEqual(['call_1', 'call_2', 'call_3', 'call_4']);
  expect(shown.get('call_4')).toMatchObject([{ mediaType: 'image/jpeg', width: 8, height: 4 }]);
  expect(Object.fromEntries(notes)).toEqual({
    call_0: 'earlier',
    call_1: 'shown',
    call_2: 'shown',
    call_3: 'shown',
    call_4: 'shown',
  });
  const messages: RunInTurn['messages'] = [{ turn: 1, role: 'assistant', content: [] }];
  const told = modelMessages({ messages, toolCalls: read }, [], { provider: 'anthropic', model: 'm' }, notes);
  expect(JSON.stringify(told)).toContain(PICTURE_NOTES.earlier);
  expect(JSON.stringify(told)).not.toContain(png.toString('base64'));
});

// Guards: a model that sees none is told so, and a picture that went or broke fails no turn.
test('what is not shown is said', async () => {
  expect(await notesOf('openai-compatible', calls(pictureOf('a')))).toEqual({ call_0: 'unseen' });
  const gone = ['deleted', 'damaged', 'lost'].map(pictureOf);
  expect(await notesOf('anthropic', calls(...gone))).toEqual({ call_0: 'gone', call_1: 'gone', call_2: 'gone' });
});

// Guards against: a tool of a workspace whose answer names a file, and a file of another workspace.
test('only what the tool of the product read is shown', async () => {
  const forged = calls(pictureOf('a')).map((call) => ({ ...call, tool: 'their_own' }));
  expect(await notesOf('anthropic', forged)).toEqual({});
  expect(await notesOf('anthropic', calls(pictureOf('a')), 'other')).toEqual({ call_0: 'gone' });
});
