/**
 * The same request as `fetch` makes, by the same agents, for answers that come in many small pieces: each of them costs
 * `fetch` twice what it costs here. Redirects are not followed.
 */
import type { Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';

/** Of `isDirect` the answer is a stream of many small pieces. */
export type Outgoing = RequestInit & { isDirect?: boolean };

/** It is read from `source` or as a stream, once. */
export class DirectResponse extends Response {
  readonly source: Readable;

  constructor(source: Readable, init: ResponseInit) {
    // A body that nobody reads is not made into a stream of the other kind; to give it up ends the connection.
    super(new ReadableStream({ cancel: () => void source.destroy() }, { highWaterMark: 0 }), init);
    this.source = source;
    // Whoever reads it hears of its errors; to give it up is one too, of which nobody need hear.
    source.on('error', () => {});
  }

  read(): ReadableStream<Uint8Array> {
    return ReadableStream.from(this.source);
  }
}

const NO_BODY = new Set([204, 205, 304]);
const FLUSHED = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const DECODERS: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: () => createGunzip(FLUSHED),
  'x-gzip': () => createGunzip(FLUSHED),
  deflate: () => createInflate(FLUSHED),
  br: () => createBrotliDecompress(),
};

/** @throws TypeError as `fetch` does, with the cause */
export async function sendDirectly(url: URL, init: RequestInit, dispatcher: Dispatcher): Promise<Response> {
  const { request } = await import('undici');
  const headers = new Headers(init.headers);
  if (!headers.has('accept')) headers.set('accept', '*/*');
  const signal = init.signal ?? null;
  try {
    const {
      statusCode: status,
      statusText,
      headers: told,
      body,
    } = await request(url, {
      dispatcher,
      method: init.method === 'GET' ? 'GET' : 'POST',
      headers: Object.fromEntries(headers),
      body: typeof init.body === 'string' ? init.body : null,
      signal,
    });
    const answer = { status, statusText, headers: headersOf(told) };
    if (NO_BODY.has(status)) {
      body.resume();
      return new Response(null, answer);
    }
    return new DirectResponse(decoded(body, answer.headers.get('content-encoding')), answer);
  } catch (error) {
    throw signal?.aborted ? error : new TypeError('fetch failed', { cause: error });
  }
}

function headersOf(told: NodeJS.Dict<string | string[]>): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(told))
    for (const value of [values ?? []].flat()) headers.append(name, value);
  return headers;
}

/** None was asked for. */
function decoded(body: Readable, encoding: string | null): Readable {
  const decode = DECODERS[encoding?.trim().toLowerCase() ?? ''];
  if (!decode) return body;
  const decoder = decode();
  body.on('error', (error) => decoder.destroy(error)).pipe(decoder);
  return decoder.on('close', () => body.destroy());
}
