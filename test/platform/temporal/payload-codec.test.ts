/** What the payload codec seals, opens and lets pass. */
import { expect, test } from '@jest/globals';
import type { Payload } from '@temporalio/common';
import { randomBytes } from 'node:crypto';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { first, present } from '../../../src/platform/core/present.ts';
import { createPayloadCodec } from '../../../src/platform/temporal/payload-codec.ts';
import { TEST_SECRETS } from '../../support/service/service.ts';

const newKey = () => randomBytes(32).toString('base64');
const ONE = `one:${newKey()}`;
const TWO = `two:${newKey()}`;
const payload = (text: string): Payload => ({
  metadata: { encoding: Buffer.from('json/plain'), messageType: Buffer.from('canary-type') },
  data: Buffer.from(text),
});
const textOf = ({ metadata, data }: Payload): string =>
  [...Object.values(metadata ?? {}), data ?? []].map((bytes) => Buffer.from(bytes).toString('latin1')).join(' ');
const seal = async (keys: string, given: Payload): Promise<Payload> =>
  first(await createPayloadCodec(keys).encode([given]));

// Guards: a sealed payload opens byte for byte, with its metadata, and is unreadable in between.
test.each([
  ['JSON', '"canary"'],
  ['nothing', ''],
  ['odd characters', '\u0000\uffff'],
  ['100 kB', 'x'.repeat(100_000)],
])('a payload of %s', async (_what, text) => {
  const codec = createPayloadCodec(ONE);
  const sealed = first(await codec.encode([payload(text)]));
  expect(textOf(sealed)).not.toMatch(/canary|json\/plain|xxxxx/);
  expect(Buffer.from(sealed!.metadata!['encryption-key-id']!).toString()).toBe('one');
  const opened = first(await codec.decode([sealed]));
  expect(textOf(opened)).toBe(textOf(payload(text)));
  expect(Object.keys(present(opened.metadata))).toEqual(['encoding', 'messageType']);
});

// Guards: a payload without data, which is how `undefined` is sent, survives.
test.each([{}, { data: null }, { data: [] as never }])('a payload without data: %j', async (more) => {
  const nothing = { metadata: { encoding: Buffer.from('binary/null') }, ...more };
  const opened = first(await createPayloadCodec(ONE).decode([await seal(ONE, nothing)]));
  expect(textOf(opened)).toBe('binary/null ');
});

// Guards: two equal payloads do not look equal.
test('each sealing is another', async () => {
  expect(textOf(await seal(ONE, payload('"a"')))).not.toBe(textOf(await seal(ONE, payload('"a"'))));
});

// Guards: after a rotation, old payloads still open, and new ones are sealed with the new key.
test('rotation', async () => {
  const rotated = createPayloadCodec(`${TWO},${ONE}`);
  const opened = first(await rotated.decode([await seal(ONE, payload('"before"'))]));
  expect(textOf(opened)).toContain('"before"');
  expect(textOf(await seal(`${TWO},${ONE}`, payload('"after"')))).toMatch(/ two /);
});

// Guards: the error for a key that was removed too early names the key, and nothing is silently lost.
test('a key that is missing', async () => {
  await expect(createPayloadCodec(TWO).decode([await seal(ONE, payload('"a"'))])).rejects.toThrow(
    'a payload is sealed with the key "one", which TEMPORAL_CODEC_KEYS lacks',
  );
});

// Guards: payloads that people send by hand or that were recorded unsealed pass through; so do foreign bytes, of which
// the payload converter makes nothing. A throw would stop the workflow for ever.
test('what is not sealed, and what was tampered with', async () => {
  const codec = createPayloadCodec(ONE);
  const tampered = await seal(ONE, payload('"a"'));
  const bytes = Buffer.from(present(tampered.data));
  bytes[20]! ^= 1;
  const renamed = {
    metadata: { ...tampered.metadata, 'encryption-key-id': Buffer.from('two') },
    data: present(tampered.data),
  };
  const strange = [
    payload('"plain"'),
    { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('x') },
    { metadata: present(tampered.metadata), data: bytes },
    { metadata: present(tampered.metadata), data: Buffer.alloc(0) },
  ];
  expect(await codec.decode(strange)).toEqual(strange);
  // The name of the key is a part of what is sealed.
  expect(await createPayloadCodec(`two:${ONE.slice(4)},${ONE}`).decode([renamed])).toEqual([renamed]);
});

// Guards: unusable keys stop the process with the setting's name and say how to make one.
test.each([
  ['no pair', 'nonsense'],
  ['a short key', 'one:c2hvcnQ='],
  ['two keys of one name', `one:${newKey()},one:${newKey()}`],
  ['a key without a name', `:${newKey()}`],
  ['a comma at the end', `${ONE},`],
])('a setting with %s is refused', (_what, keys) => {
  const env = { ...TEST_SECRETS, DATABASE_URL: 'postgres://localhost/x', TEMPORAL_CODEC_KEYS: keys };
  expect(() => loadConfig(env)).toThrow(/^TEMPORAL_CODEC_KEYS: expects /);
});
