/** Several answers on one connection, read as a proxy reads them: by what each says of its own length. */
import { connect } from 'node:net';

export interface WireAnswer {
  status: number;
  headers: ReadonlyMap<string, string>;
  body: Buffer;
}

/**
 * Sends GETs one after the other without waiting, the last one asking for the connection to be closed.
 * @returns whole answers; the connection may end before all have come
 * @throws Error for bytes that are no answer where one begins
 */
export async function answersOn(
  urls: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<WireAnswer[]> {
  const [first] = urls.map((url) => new URL(url));
  if (!first) return [];
  const socket = connect(Number(first.port), first.hostname);
  urls.forEach((url, at) => {
    const { pathname, search, host } = new URL(url);
    const all = { ...headers, host, connection: at === urls.length - 1 ? 'close' : 'keep-alive' };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  });
  // A reset is an end too: what came before it counts.
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => {}));
  return answersIn(Buffer.concat(chunks));
}

function answersIn(bytes: Buffer): WireAnswer[] {
  const answers: WireAnswer[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...fields] = rest.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1];
    if (status === undefined) throw new Error(`no answer begins here: ${rest.subarray(0, 60).toString('latin1')}`);
    const headers = new Map(
      fields.map((field): [string, string] => {
        const [name = '', ...value] = field.split(':');
        return [name.toLowerCase(), value.join(':').trim()];
      }),
    );
    const after = rest.subarray(end + 4);
    const body = headers.get('transfer-encoding') === 'chunked' ? chunked(after) : sized(after, headers);
    if (!body) return answers;
    answers.push({ status: Number(status), headers, body: body.bytes });
    rest = after.subarray(body.length);
  }
  return answers;
}

interface Body {
  bytes: Buffer;
  /** As it is on the wire. */
  length: number;
}

function sized(after: Buffer, headers: ReadonlyMap<string, string>): Body | undefined {
  const length = Number(headers.get('content-length') ?? 0);
  return after.length < length ? undefined : { bytes: after.subarray(0, length), length };
}

function chunked(after: Buffer): Body | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const end = after.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const size = parseInt(after.subarray(at, end).toString('latin1'), 16);
    if (Number.isNaN(size)) throw new Error(`no chunk begins here: ${after.subarray(at, at + 60).toString('latin1')}`);
    at = end + 2 + size + 2;
    if (after.length < at) return undefined;
    if (size === 0) return { bytes: Buffer.concat(pieces), length: at };
    pieces.push(after.subarray(end + 2, end + 2 + size));
  }
}
