/**
 * Seals what Temporal keeps: with `TEMPORAL_CODEC_KEYS` every payload (arguments, results, signals, updates, memos,
 * summaries, and with `failure-converter.cjs` the texts of errors) is encrypted before it leaves the process,
 * AES-256-GCM with the key's name as associated data. Workflow ids, types, queues and search attributes stay readable.
 *
 * A payload that is not sealed passes: operators and scripts send plain signals, and histories from before stay
 * readable. Bytes that none of the keys made pass as well: their reader refuses them, where a throw would stop a
 * workflow for ever.
 */
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { namedKeysIn } from '../core/crypto.ts';
import { parseJson } from '../core/json.ts';

/** Temporal's own samples name the encoding so, and its tools show it. */
const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('utf8');

/** Writes a payload as bytes: the length of its metadata, its metadata as JSON of base64, its data. */
function toBytes({ metadata, data }: Payload): Buffer {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  const head = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  // For `undefined` protobufjs gives an empty array instead of bytes.
  return Buffer.concat([length, head, Buffer.from(data ?? [])]);
}

function fromBytes(bytes: Buffer): Payload {
  const end = 4 + bytes.readUInt32BE();
  const head = parseJson(bytes.toString('utf8', 4, end)) as Record<string, string>;
  const metadata = Object.fromEntries(
    Object.entries(head).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
  );
  return { metadata, data: bytes.subarray(end) };
}

/** @param setting the text of `TEMPORAL_CODEC_KEYS`: the first key seals, all of them open */
export function createPayloadCodec(setting: string): PayloadCodec {
  const keys = namedKeysIn(setting);
  const [current] = keys;

  function seal(payload: Payload): Payload {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', current.key, iv).setAAD(utf8(current.id));
    const data = Buffer.concat([iv, cipher.update(toBytes(payload)), cipher.final(), cipher.getAuthTag()]);
    return { metadata: { encoding: utf8(ENCODING), [KEY_ID]: utf8(current.id) }, data };
  }

  function open(payload: Payload): Payload {
    if (textOf(payload.metadata?.encoding) !== ENCODING || !payload.metadata?.[KEY_ID]) return payload;
    const id = textOf(payload.metadata[KEY_ID]);
    const known = keys.find((key) => key.id === id);
    // Most likely one of the deployment's keys was taken away too early: whoever waits goes on once it is back.
    if (!known)
      throw new Error(`a payload is sealed with the key ${JSON.stringify(id)}, which TEMPORAL_CODEC_KEYS lacks`);
    try {
      const bytes = Buffer.from(payload.data ?? []);
      const decipher = createDecipheriv('aes-256-gcm', known.key, bytes.subarray(0, IV_BYTES)).setAAD(utf8(id));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return fromBytes(Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]));
    } catch {
      return payload;
    }
  }

  return {
    encode: (payloads) => Promise.resolve(payloads.map(seal)),
    decode: async (payloads) => payloads.map(open),
  };
}

/** The SDK loads this file, and the sealed workflow bundle contains it. */
export const FAILURE_CONVERTER = fileURLToPath(
  new URL('../../../workflows/shared/failure-converter.cjs', import.meta.url),
);

/** @returns the converter of clients and workers; without keys nothing is sealed */
export const dataConverterOf = (codecKeys: string | undefined): DataConverter =>
  codecKeys ? { payloadCodecs: [createPayloadCodec(codecKeys)], failureConverterPath: FAILURE_CONVERTER } : {};
