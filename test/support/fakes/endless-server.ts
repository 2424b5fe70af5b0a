/**
 * A process that answers every request with a body that nobody should read to its end: endless, a byte at a time, tiny
 * when it is sent and huge when it is unpacked, of another length than it says. One port for each kind, raw sockets, so
 * that no library keeps it from lying. It says which ports, and of each connection that ended how much was taken.
 */
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { itemAt, present } from '../../../src/platform/core/present.ts';

const MB = 1_024 * 1_024;
/** Of a test whose subject has no limit: enough to be seen, too little to take the machine down. */
const MOST = 256 * MB;
const DRIP_MS = 200;

const head = (status: string, ...headers: string[]): string =>
  [`HTTP/1.1 ${status}`, 'content-type: application/json', ...headers, '', ''].join('\r\n');
const events = (status: string) =>
  head(status, 'transfer-encoding: chunked').replace('application/json', 'text/event-stream');
const OK = '200 OK';

const chunked = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
const x = (length: number): Buffer => Buffer.alloc(length, 'x');
const EVENT = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: 'a' } }] })}\n\n`;
const zeros = Buffer.alloc(256 * MB);
const gzipped = gzipSync(zeros, { level: 1 });
const packed = (coding: string, bytes: Buffer) => ({
  first: head(OK, `content-encoding: ${coding}`, 'transfer-encoding: chunked'),
  then: bytes,
});

interface Answer {
  first: string | Buffer;
  /** Again and again, as fast as it is taken. */
  again?: Buffer;
  /** Once, and the connection stays open. */
  then?: Buffer;
  /** A byte of it at a time, again and again. */
  drip?: string;
  /** Ends the connection after it. */
  ends?: true;
}

const ANSWERS: Record<string, Answer> = {
  endless: { first: head(OK, 'transfer-encoding: chunked'), again: chunked(x(64 * 1_024)) },
  'endless, as an error': { first: head('500 Oh', 'transfer-encoding: chunked'), again: chunked(x(64 * 1_024)) },
  'endless, as a refusal': { first: head('400 No', 'transfer-encoding: chunked'), again: chunked(x(64 * 1_024)) },
  'endless, until the connection ends': { first: head(OK), again: x(64 * 1_024) },
  'endless events': { first: events(OK), again: chunked(Buffer.from(EVENT.repeat(200))) },
  'endless comments': { first: events(OK), again: chunked(Buffer.from(': still there\n\n'.repeat(2_000))) },
  'an endless line': { first: events(OK), again: chunked(Buffer.from(`data: ${'x'.repeat(60_000)}`)) },
  'an event of endless lines': { first: events(OK), again: chunked(Buffer.from('data: xxxxxxxxx\n'.repeat(2_000))) },
  'chunks of a byte': { first: events(OK), again: Buffer.from('1\r\nx\r\n'.repeat(10_000)) },
  'an endless chunk extension': { first: `${head(OK, 'transfer-encoding: chunked')}1;`, again: x(64 * 1_024) },
  'endless trailers': {
    first: `${head(OK, 'transfer-encoding: chunked')}0\r\n`,
    again: Buffer.from('x-more: and more\r\n'.repeat(100)),
  },
  'endless headers': { first: `HTTP/1.1 200 OK\r\n`, again: Buffer.from('x-more: and more\r\n'.repeat(100)) },
  'endless early hints': {
    first: '',
    again: Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(100)),
  },
  'a drip': { first: head(OK, 'transfer-encoding: chunked'), drip: '1\r\nx\r\n' },
  'a drip of events': { first: `${events(OK)}`, drip: chunked(Buffer.from(EVENT)).toString() },
  'a drip, as a refusal': { first: head('400 No', 'transfer-encoding: chunked'), drip: '1\r\nx\r\n' },
  'a drip of headers': { first: 'HTTP/1.1 200 OK\r\nx-more: ', drip: 'x' },
  silence: { first: '' },
  'a length too small': { first: head(OK, 'content-length: 5'), again: x(64 * 1_024) },
  'a length too large': { first: head(OK, 'content-length: 1000000000000'), then: x(5) },
  'a length too large, and an end': { first: head(OK, 'content-length: 1000000000000'), then: x(5), ends: true },
  'a length too large, and all of it': { first: head(OK, 'content-length: 1000000000000'), again: x(64 * 1_024) },
  'two lengths': { first: head(OK, 'content-length: 5', 'content-length: 7'), again: x(64 * 1_024) },
  'endless gzip': { first: head(OK, 'content-encoding: gzip'), again: gzipSync(zeros.subarray(0, 16 * MB)) },
  gzip: packed('gzip', gzipped),
  deflate: packed('deflate', deflateSync(zeros, { level: 1 })),
  brotli: packed('br', brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })),
  zstd: packed('zstd', zstdCompressSync(zeros)),
  'gzip in gzip': packed('gzip, gzip', gzipSync(gzipped)),
  'gzip in gzip, in two headers': packed('gzip\r\ncontent-encoding: gzip', gzipSync(gzipped)),
};

/** What a server that speaks first says: mail. */
const GREETINGS: Record<string, Answer> = {
  'an endless greeting': { first: '220 ', again: x(64 * 1_024) },
  'a greeting of endless lines': { first: '', again: Buffer.from('220-and more\r\n'.repeat(1_000)) },
  'a drip of a greeting': { first: '220-', drip: 'x' },
  'a drip after the greeting': { first: '220 hello\r\n', drip: '250-x\r\n' },
  silence: { first: '' },
};

/** What callers that ask several times are answered before it comes to the body that they are to read. */
function politely(request: string, port: number): object | '' | undefined {
  const [, path = ''] = /^\w+ (\S+)/.exec(request) ?? [];
  const issuer = `http://127.0.0.1:${port}/tokens`;
  if (path === '/tokens/.well-known/openid-configuration') {
    const [authorization_endpoint, token_endpoint, jwks_uri] = ['auth', 'token', 'keys'].map(
      (each) => `${issuer}/${each}`,
    );
    return { issuer, authorization_endpoint, token_endpoint, jwks_uri, response_types_supported: ['code'] };
  }
  if (path !== '/mcp-tool' && path !== '/mcp-command') return undefined;
  if (request.startsWith('GET')) return '';
  const { id, method } = JSON.parse(request.slice(request.indexOf('\r\n\r\n'))) as { id?: number; method: string };
  const result = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'endless', version: '1' },
    },
    'tools/list': { tools: [{ name: 'read', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] },
  }[method];
  if (result) return { jsonrpc: '2.0', id, result };
  return id === undefined ? '' : undefined;
}

function misbehave(socket: Socket, { first, again, then, drip, ends }: Answer): void {
  const isChunked = /chunked/.test(String(first));
  socket.write(first);
  if (then) socket.write(isChunked ? Buffer.concat([chunked(then), Buffer.from('0\r\n\r\n')]) : then);
  if (ends) socket.end();
  if (again) {
    const send = () => {
      while (!socket.destroyed && socket.bytesWritten < MOST)
        if (!socket.write(again)) return void socket.once('drain', send);
    };
    send();
  }
  if (drip) {
    let at = 0;
    const timer = setInterval(() => socket.write(itemAt(drip, at++ % drip.length)), DRIP_MS);
    socket.once('close', () => clearInterval(timer));
  }
}

const tell = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function listen(kind: string, answer: Answer, speaksFirst: boolean): Promise<number> {
  const server = createServer((socket) => {
    let request = '';
    socket.on('error', () => {});
    tell({ kind, opened: 1 });
    socket.on('close', () => tell({ kind, closed: 1, bytes: socket.bytesWritten - socket.writableLength }));
    if (speaksFirst) return misbehave(socket.resume(), answer);
    socket.on('data', (data) => {
      request += data.toString('latin1');
      const end = request.indexOf('\r\n\r\n');
      const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(request) ?? [];
      if (end < 0 || request.length < end + 4 + Number(length)) return;
      const polite = politely(request, present(socket.localPort));
      request = '';
      if (polite === undefined) return misbehave(socket, answer);
      const body = polite === '' ? '' : JSON.stringify(polite);
      socket.write(
        `HTTP/1.1 ${body ? OK : '202 Accepted'}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as { port: number }).port;
}

const portsOf = async (answers: Record<string, Answer>, speaksFirst: boolean) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(answers).map(async ([kind, answer]) => [kind, await listen(kind, answer, speaksFirst)]),
    ),
  );
tell({ answers: await portsOf(ANSWERS, false), greetings: await portsOf(GREETINGS, true) });
process.stdout.on('error', () => process.exit());
process.stdin.resume().on('end', () => process.exit());
