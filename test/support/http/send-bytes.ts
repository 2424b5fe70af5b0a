/** Requests exactly as they are given: no client between that would put them right or refuse to send them. */
import { Agent, request } from 'node:http';
import { once } from 'node:events';
import { connect } from 'node:net';
import { first, present } from '../../../src/platform/core/present.ts';
import type { Reply } from './documented-replies.ts';

/** Longer than anything that the service lets a caller wait for. */
export const HANGS_AFTER_MS = 60_000;

export interface BytesSender {
  /** @throws Error when it is not answered: `hangs`, or the connection's own */
  send(to: {
    url: string;
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: Buffer;
  }): Promise<Reply & { headers: NodeJS.Dict<string | string[]> }>;
  close(): void;
}

/** @param connections requests that are open at once, at most */
export function createBytesSender(connections: number): BytesSender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send: BytesSender['send'] = ({ url, method, path, headers, body = Buffer.alloc(0) }) =>
    new Promise((resolve, reject) => {
      const sized = body.length > 0 || method !== 'GET' ? { 'content-length': String(body.length) } : {};
      const { hostname, port } = new URL(url);
      const asked = request({ agent, hostname, port, method, path, headers: { ...sized, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const contentType = first((response.headers['content-type'] ?? '').split(';'));
          const text = Buffer.concat(chunks).toString();
          resolve({ status: present(response.statusCode), contentType: contentType, text, headers: response.headers });
        });
      });
      asked.setTimeout(HANGS_AFTER_MS, () => asked.destroy(new Error(`hangs for ${HANGS_AFTER_MS / 1_000} s`)));
      asked.on('error', (error: NodeJS.ErrnoException) => {
        // The service closed an idle connection while it was taken for this request: no answer to it.
        if (asked.reusedSocket && error.code === 'ECONNRESET') resolve(send({ url, method, path, headers, body }));
        else reject(error);
      });
      asked.end(body);
    });
  return { send, close: () => agent.destroy() };
}

/**
 * Writes these bytes on a connection of their own.
 * @param isOpen as if more were to come
 * @returns all that came back until the service closed
 */
export async function exchange(url: string, bytes: string | Buffer, isOpen = false): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  // A reset is an answer too: what was said before it counts.
  socket.on('error', () => socket.destroy());
  let hangs = false;
  socket.setTimeout(HANGS_AFTER_MS, () => {
    hangs = true;
    socket.destroy();
  });
  const closed = once(socket, 'close');
  socket.write(bytes);
  if (!isOpen) socket.end();
  socket.on('end', () => socket.end());
  await closed;
  if (hangs) throw new Error(`hangs for ${HANGS_AFTER_MS / 1_000} s`);
  return answer;
}
