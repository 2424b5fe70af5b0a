/**
 * Applies the limits of `limits.ts` to clients that speak HTTP over sockets of their own. They hold for each
 * connection.
 */
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Socket } from 'node:net';
import { exceeded, type BodyLimits } from './limits.ts';

/** No connection is used twice, so that whatever comes over one is the answer to one request. */
export function limitedAgent({ isSecure, ...limits }: BodyLimits & { isSecure: boolean }): Agent {
  const agent: Agent = isSecure ? new SecureAgent({ keepAlive: false }) : new Agent({ keepAlive: false });
  const open = agent.createConnection.bind(agent);
  agent.createConnection = (...given) => {
    const socket = open(...given) as Socket;
    limit(socket, limits);
    return socket;
  };
  return agent;
}

function limit(socket: Socket, limits: BodyLimits): void {
  const end = (what: 'size' | 'time') => {
    const error = exceeded(what, limits);
    limits.onExceeded?.(error);
    socket.destroy(error);
  };
  const timer = setTimeout(() => end('time'), limits.totalMs).unref();
  socket.once('close', () => clearTimeout(timer));
  let bytes = 0;
  const push = socket.push.bind(socket);
  // Every byte passes here on its way in, whoever reads it and however: a connection may be taken over for a stream.
  socket.push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => {
    bytes += chunk?.length ?? 0;
    if (bytes <= limits.maxBytes) return push(chunk, encoding);
    end('size');
    return false;
  };
}
