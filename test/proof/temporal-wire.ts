/**
 * A wire from one process to Temporal that knows which call goes over it, and can end the connection when Temporal has
 * carried a call out and before the process hears of that. HTTP/2 in clear, as gRPC speaks it on a machine of its own.
 */
import { once } from 'node:events';
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { last, present } from '../../src/platform/core/present.ts';
import { portOf } from '../support/processes/listening.ts';

export interface TemporalWire {
  /** host:port; for the process. */
  address: string;
  /**
   * Called when Temporal has carried out a call that changes something.
   * @param call such as `StartWorkflowExecution run`: what is asked, and of which kind of workflow
   * @returns whether the process is never to hear of it: the connection ends there
   */
  carriedOut: ((call: string) => boolean) | undefined;
  close(): Promise<void>;
}

/** What changes nothing, and what waits for something to come. */
const READS = /^(Get|List|Describe|Poll|Count|Query|Scan|Check)/;
/** Ids of workflows and schedules begin with what they are for; one of them is in whatever a call says. */
const KIND = /(run|project|phase|webhook|output|workspace|job|heartbeat)-/;
const MANY = 10_000;

/** @param target host:port of the server */
export async function startTemporalWire(target: string): Promise<TemporalWire> {
  const open = new Set<ServerHttp2Session | ClientHttp2Session>();
  const keep = (session: ServerHttp2Session | ClientHttp2Session) => {
    open.add(session);
    session.on('error', () => session.destroy());
    session.on('close', () => open.delete(session));
  };
  const server = createServer({ settings: { maxConcurrentStreams: MANY }, maxSessionMemory: 100 });
  server.on('session', (session) => {
    keep(session);
    const upstream = connect(`http://${target}`, { peerMaxConcurrentStreams: MANY, maxSessionMemory: 100 });
    keep(upstream);
    session.on('close', () => upstream.destroy());
    upstream.on('close', () => session.destroy());
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      if (upstream.destroyed) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
      pass(stream, upstream.request(headers), headers, wire);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wire: TemporalWire = {
    address: `127.0.0.1:${portOf(server)}`,
    carriedOut: undefined,
    async close() {
      for (const session of open) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return wire;
}

/** Hands on both ways; of a call that changes something the end is looked at first. */
function pass(
  client: ServerHttp2Stream,
  upstream: ClientHttp2Stream,
  headers: IncomingHttpHeaders,
  wire: TemporalWire,
): void {
  const method = last(present(headers[':path']).split('/'));
  const asked: Buffer[] = [];
  for (const stream of [client, upstream]) stream.on('error', () => {});
  client.on('close', () => upstream.close(constants.NGHTTP2_CANCEL));
  upstream.on('close', () => {
    if (!client.writableEnded) client.close(constants.NGHTTP2_CANCEL);
  });
  client.on('data', (chunk: Buffer) => {
    if (!READS.test(method)) asked.push(chunk);
    upstream.write(chunk);
  });
  client.on('end', () => upstream.end());

  /** @returns whether the connection is gone */
  const isCut = (status: unknown): boolean => {
    if (status !== '0' || READS.test(method)) return false;
    const kind = KIND.exec(messageIn(Buffer.concat(asked)))?.[1];
    if (!wire.carriedOut?.(kind ? `${method} ${kind}` : method)) return false;
    client.session?.destroy();
    return true;
  };
  const answer: Buffer[] = [];
  upstream.on('response', (response, flags) => {
    const { [':status']: status, ...rest } = response;
    const isOver = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    if (isOver && isCut(response['grpc-status'])) return;
    if (!client.destroyed)
      client.respond({ ':status': status, ...rest }, { endStream: isOver, waitForTrailers: !isOver });
  });
  upstream.on('data', (chunk: Buffer) => answer.push(chunk));
  upstream.on('trailers', (trailers) => {
    if (isCut(trailers['grpc-status']) || client.destroyed) return;
    client.on('wantTrailers', () => client.sendTrailers(trailers));
    client.end(Buffer.concat(answer));
  });
}

/** Of gRPC's frame: a byte that says whether it is compressed, four for the length, and the message. */
const messageIn = (frame: Buffer): string =>
  (frame[0] === 1 ? gunzipSync(frame.subarray(5)) : frame.subarray(5)).toString('latin1');
