/** What attackers and broken clients write on a connection: not quite HTTP, more than one request, or no end. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { exchange, HANGS_AFTER_MS } from '../http/send-bytes.ts';

export interface WireAttack {
  name: string;
  bytes: Buffer | string;
  /**
   * The answers that it must get, one after another, while our side stays open. Without any, ours ends with these bytes,
   * and it may be cut off or get whatever is not the service's own fault.
   */
  statuses?: readonly number[];
}

/** @param credentials header lines of a caller who may do this: `authorization: ...` */
export function wireAttacks(credentials: string): readonly WireAttack[] {
  const close = 'connection: close\r\n';
  const head = (line: string, more = '', last = close) =>
    `${line} HTTP/1.1\r\nhost: a\r\n${credentials}${more}${last}\r\n`;
  const post = (more: string, body: string) =>
    head('POST /v1/runs', `content-type: application/json\r\n${more}`) + body;
  const get = (more = '', last = close) => head('GET /v1/agents', more, last);
  return [
    { name: 'TLS', bytes: Buffer.from('16030100a5010000a10303', 'hex'), statuses: [400] },
    { name: 'zeros', bytes: Buffer.alloc(1_000), statuses: [400] },
    { name: 'HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', statuses: [400] },
    { name: 'an unknown method', bytes: head('FOO /v1/agents'), statuses: [400] },
    { name: 'no version', bytes: 'GET /v1/agents\r\n\r\n' },
    { name: 'a version to come', bytes: 'GET /v1/agents HTTP/9.9\r\nhost: a\r\n\r\n' },
    { name: 'no host', bytes: `GET /v1/agents HTTP/1.1\r\n${credentials}${close}\r\n`, statuses: [400] },
    { name: 'two hosts', bytes: get('host: b\r\n') },
    { name: 'TRACE', bytes: head('TRACE /v1/agents'), statuses: [405] },
    ...['HEAD', 'OPTIONS', 'PROPFIND', 'QUERY', 'LINK', 'PURGE'].map((method) => ({
      name: method,
      bytes: head(`${method} /v1/agents`),
      statuses: [404],
    })),
    { name: 'CONNECT', bytes: head('CONNECT example.com:443') },
    { name: 'an address with a host', bytes: head('GET http://169.254.169.254/v1/agents') },
    { name: 'an asterisk', bytes: head('GET *') },
    { name: 'an address without a slash', bytes: head('GET v1/agents') },
    { name: 'an address with a bad escape', bytes: head('GET /v1/runs/%'), statuses: [400] },
    { name: 'an address of 100 KB', bytes: head(`GET /v1/agents?${'x'.repeat(100_000)}`), statuses: [431] },
    { name: 'a header of 100 KB', bytes: get(`x-a: ${'x'.repeat(100_000)}\r\n`), statuses: [431] },
    { name: '5,000 headers', bytes: get('x-a: b\r\n'.repeat(5_000)), statuses: [431] },
    { name: 'a header with a NUL', bytes: get('x-a: a\0b\r\n'), statuses: [400] },
    { name: 'a header with a line feed', bytes: get('x-a: a\nx-b: c\r\n') },
    { name: 'a header with a carriage return', bytes: get('x-a: a\rx-b: c\r\n'), statuses: [400] },
    { name: 'a header over two lines', bytes: get('x-a: a\r\n b\r\n') },
    { name: 'a header name with a blank', bytes: get('x a: b\r\n'), statuses: [400] },
    {
      name: 'a header of every byte',
      bytes: Buffer.from(get(`x-a: ${String.fromCharCode(...Array(256).keys())}\r\n`), 'latin1'),
    },
    { name: 'two credentials', bytes: get('authorization: Bearer another\r\n') },
    { name: 'an upgrade', bytes: get('connection: upgrade\r\nupgrade: websocket\r\n') },
    {
      name: 'an upgrade to HTTP/2',
      bytes: get('connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n'),
    },
    { name: 'an expectation of something else', bytes: post('expect: a-wonder\r\ncontent-length: 2\r\n', '{}') },
    { name: 'two lengths', bytes: post('content-length: 2\r\ncontent-length: 3\r\n', '{}'), statuses: [400] },
    {
      name: 'a length and chunks',
      bytes: post('content-length: 2\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n'),
      statuses: [400],
    },
    {
      name: 'an encoding beside chunks',
      bytes: post('transfer-encoding: chunked, identity\r\n', '0\r\n\r\n'),
      statuses: [400],
    },
    { name: 'a negative length', bytes: post('content-length: -1\r\n', '{}'), statuses: [400] },
    { name: 'a length beyond numbers', bytes: post(`content-length: ${'9'.repeat(30)}\r\n`, '{}'), statuses: [400] },
    {
      name: 'a chunk of no size',
      bytes: post('transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'),
      statuses: [400],
    },
    {
      name: 'a chunk that says a lot of itself',
      bytes: post('transfer-encoding: chunked\r\n', `2;${'a'.repeat(100_000)}\r\n{}\r\n`),
    },
    { name: 'a body that is cut off', bytes: post('content-length: 100\r\n', '{"prompt":') },
    { name: 'chunks that are cut off', bytes: post('transfer-encoding: chunked\r\n', 'a\r\n{"promp') },
    {
      name: 'a body that says 2 GB',
      bytes: post('content-length: 2147483648\r\n', '{"prompt":'),
      statuses: [413],
    },
    { name: '100 requests at once', bytes: get('', '').repeat(99) + get(), statuses: Array<number>(100).fill(200) },
    { name: 'a request and noise', bytes: `${get('', '')}\x01\x02\x03\r\n\r\n` },
    { name: 'a request inside of another', bytes: post('content-length: 2\r\n', `{}${get()}`) },
    { name: 'nothing', bytes: '' },
  ];
}

/** What is sent without end, to endpoints that read it. */
export interface Flood {
  name: string;
  head: string;
  /** Sent again and again. */
  chunk: Buffer;
  statuses: readonly number[];
}

interface Reached {
  apiKey: string;
  session: string;
  /** A project that files can be added to. */
  projectId: string;
}

export function floods({ apiKey, session, projectId }: Reached): readonly Flood[] {
  const chunked = 'host: a\r\ntransfer-encoding: chunked\r\nconnection: close\r\n';
  const asKey = `authorization: Bearer ${apiKey}\r\n${chunked}`;
  const asOwner = `cookie: service_session=${session}\r\n${chunked}content-type: multipart/form-data; boundary=b\r\n`;
  const file = (field: string) => `--b\r\ncontent-disposition: form-data; name="${field}"; filename="a.txt"\r\n\r\n`;
  const blanks = Buffer.alloc(65_536, ' ');
  const begun = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  return [
    {
      name: 'JSON without end',
      head: `POST /v1/runs HTTP/1.1\r\n${asKey}content-type: application/json\r\n\r\n`,
      chunk: blanks,
      statuses: [413],
    },
    {
      name: 'files without end',
      head: `POST /api/v1/cp/v1/projects/${projectId}/attachments HTTP/1.1\r\n${asOwner}\r\n${begun(file('files'))}`,
      chunk: blanks,
      statuses: [413],
    },
    {
      name: 'a picture without end',
      head: `PUT /api/v1/cp/v1/agents/assistant/avatar HTTP/1.1\r\n${asOwner}\r\n${begun(file('file'))}`,
      chunk: blanks,
      statuses: [413],
    },
    {
      name: 'parts without end',
      head: `POST /api/v1/cp/v1/projects/${projectId}/attachments HTTP/1.1\r\n${asOwner}\r\n`,
      chunk: Buffer.from(`${file('files')}x\r\n`.repeat(500)),
      statuses: [400, 413],
    },
    {
      name: 'a form that never begins',
      head: `POST /api/v1/cp/v1/projects/${projectId}/attachments HTTP/1.1\r\n${asOwner}\r\n`,
      chunk: blanks,
      statuses: [400, 413],
    },
  ];
}

/** @returns what is wrong with the answers to it, undefined where nothing is */
export async function faultOfWire(url: string, attack: WireAttack | Flood): Promise<string | undefined> {
  try {
    const answer =
      'chunk' in attack ? await flood(url, attack) : await exchange(url, attack.bytes, attack.statuses !== undefined);
    const statuses = statusesIn(answer);
    if (statuses.some((status) => status >= 500)) return `it is answered ${statuses.join()}`;
    if (attack.statuses && statuses.join() !== attack.statuses.join() && !isOneOf(statuses, attack))
      return `it is answered ${statuses.join() || 'nothing'}, not ${attack.statuses.join()}`;
    if (/^x-injected/im.test(answer)) return 'a header of the caller is in the answer';
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const isOneOf = ([status, ...more]: number[], attack: WireAttack | Flood): boolean =>
  'chunk' in attack && status !== undefined && more.length === 0 && attack.statuses.includes(status);

/** The status of each answer in what came back. */
const statusesIn = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n/g)]
    .map(([, status]) => Number(status))
    .filter((status) => status >= 200);

/** Bytes that a sender of a body without end may get rid of before it has its answer: what is under way in the system. */
const MOST_WRITTEN = 256 * 2 ** 20;

/**
 * Sends a body without end.
 * @returns what came back
 * @throws Error when it is read for ever
 */
async function flood(url: string, { head, chunk }: Flood): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let answer = '';
  let isOver = false;
  socket.on('error', () => socket.destroy());
  const closed = once(socket, 'close').then(() => void (isOver = true));
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (data: Buffer) => {
      answer += data.toString('latin1');
      resolve();
    });
  });
  socket.setTimeout(HANGS_AFTER_MS, () => socket.destroy());
  socket.write(head);
  const framed = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
  let written = 0;
  while (!isOver && answer === '') {
    if (written > MOST_WRITTEN) {
      socket.destroy();
      throw new Error(`${MOST_WRITTEN} bytes of a body are read and not answered`);
    }
    written += framed.length;
    const isTaken = socket.write(framed);
    await Promise.race([isTaken ? setImmediate() : once(socket, 'drain').catch(() => {}), answered, closed]);
  }
  socket.destroy();
  await closed;
  return answer;
}
