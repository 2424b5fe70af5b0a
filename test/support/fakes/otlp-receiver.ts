/** What traces are sent to: takes OTLP over HTTP as protobuf, and reads of it what tests ask for. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { first, itemAt } from '../../../src/platform/core/present.ts';
import { portOf } from '../processes/listening.ts';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty: a root. */
  parentId: string;
  name: string;
  attributes: Record<string, string | number | boolean>;
  /** Ids of the traces that it links. */
  links: string[];
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  spans: ReceivedSpan[];
  /** Everything as it came. */
  bytes(): Buffer;
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    bodies.push(body);
    spans.push(...spansIn(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    spans,
    bytes: () => Buffer.concat(bodies),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Field numbers of opentelemetry/proto/trace/v1/trace.proto. */
const spansIn = (request: Buffer): ReceivedSpan[] =>
  all(request, 1).flatMap((resource) => all(resource, 2).flatMap((scope) => all(scope, 2).map(spanOf)));

const spanOf = (span: Buffer): ReceivedSpan => ({
  traceId: hex(span, 1),
  spanId: hex(span, 2),
  parentId: hex(span, 4),
  name: all(span, 5)[0]?.toString() ?? '',
  attributes: Object.fromEntries(
    all(span, 9).map((pair) => [first(all(pair, 1)).toString(), valueOf(all(pair, 2)[0] ?? Buffer.alloc(0))]),
  ),
  links: all(span, 13).map((link) => hex(link, 1)),
});

const hex = (message: Buffer, field: number): string => all(message, field)[0]?.toString('hex') ?? '';

function valueOf(any: Buffer): string | number | boolean {
  for (const [field, value] of fields(any)) {
    if (field === 1) return (value as Buffer).toString();
    if (field === 2) return value === 1n;
    if (field === 3) return Number(value);
  }
  return '';
}

const all = (message: Buffer, wanted: number): Buffer[] =>
  [...fields(message)].flatMap(([field, value]) => (field === wanted && Buffer.isBuffer(value) ? [value] : []));

/** The wire format: a key of field and type, then a number, eight bytes, a length with bytes, or four bytes. */
function* fields(message: Buffer): Generator<[field: number, value: bigint | Buffer]> {
  let at = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = itemAt(message, at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => message.subarray(at, (at += length));
  while (at < message.length) {
    const key = Number(varint());
    const type = key & 7;
    if (type === 0) yield [key >> 3, varint()];
    else yield [key >> 3, take(type === 1 ? 8 : type === 5 ? 4 : Number(varint()))];
  }
}
