/**
 * Answers requests that are no HTTP, or too much of it, in the one form that errors have. Node would answer without a
 * body, and callers could not tell its answer from that of something in front of the service.
 */
import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '../core/problem.ts';
import { PROBLEM_HEADER } from './endpoint.ts';

export function answerUnreadable(server: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => latest.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = latest.get(socket);
    // A reply is under way, and whatever is written into it would be taken for a part of it.
    const isAnswering = response?.headersSent && !response.writableFinished;
    if (!socket.writable || error.code === 'ECONNRESET' || isAnswering) socket.destroy(error);
    else socket.end(answerTo(problemOf(error.code)), () => socket.destroy(error));
  });
}

/** These codes are Node's own and its parser's; any other means that the request is no HTTP. */
function problemOf(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('headers_too_large');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return new Problem('payload_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout');
  return new Problem('bad_request', 'malformed request');
}

function answerTo({ status, detail, code }: Problem): string {
  const body = JSON.stringify({ detail });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `${PROBLEM_HEADER}: ${code}`,
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
