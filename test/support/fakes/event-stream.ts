/** Writes messages as AWS does in a stream (`application/vnd.amazon.eventstream`): length, headers, payload, checksums. */
import { crc32 } from 'node:zlib';
import type { Reply } from './openai-server.ts';

const sized = (size: number, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return bytes;
};
const uint32 = (value: number) => sized(4, (bytes) => bytes.writeUInt32BE(value));

/** A header whose value is a text. */
const header = (name: string, value: string) =>
  Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    sized(2, (bytes) => bytes.writeUInt16BE(value.length)),
    Buffer.from(value),
  ]);

const message = (headers: Record<string, string>, payload: unknown): Buffer =>
  framed(
    Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value))),
    Buffer.from(JSON.stringify(payload)),
  );

function framed(head: Buffer, body: Buffer): Buffer {
  const prelude = Buffer.concat([uint32(16 + head.length + body.length), uint32(head.length)]);
  const unsigned = Buffer.concat([prelude, uint32(crc32(prelude)), head, body]);
  return Buffer.concat([unsigned, uint32(crc32(unsigned))]);
}

export const event = (type: string, payload: unknown): Buffer =>
  message({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);

export const exception = (type: string, text: string): Buffer =>
  message(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    { message: text },
  );

export const eventStream =
  (...messages: Buffer[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    for (const each of messages) response.write(each);
    response.end();
  };

const headOf = (whole: Buffer): Buffer => whole.subarray(12, 12 + whole.readUInt32BE(4));
export const payloadOf = (whole: Buffer): string => whole.toString('utf8', 12 + headOf(whole).length, whole.length - 4);
/** The same message with another payload. */
export const withPayload = (whole: Buffer, payload: string): Buffer => framed(headOf(whole), Buffer.from(payload));
