/**
 * Puts an end to bodies that have none. The parsers read what is over their limit to its end before they say so, which
 * lets a client that sends first and reads later see the answer; that patience ends here.
 */
import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '../core/problem.ts';

/** So much is read past the limit of a body before the connection is given up. */
const PATIENCE_BYTES = 16 * 2 ** 20;

/**
 * Call it in the tick in which the body's reader begins: it looks at what passes, and makes it pass.
 * @param refuse called at most once, with `payload_too_large`; the connection closes with the answer
 */
export function watchBody(
  request: Request,
  response: Response,
  maxBytes: number,
  refuse: (problem: Problem) => void,
): void {
  const most = maxBytes + PATIENCE_BYTES;
  const giveUp = () => {
    response.set('connection', 'close');
    refuse(new Problem('payload_too_large'));
  };
  if (Number(request.headers['content-length']) > most) return giveUp();
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= most) return;
    request.off('data', count);
    giveUp();
  };
  request.on('data', count);
}

/** Wraps a reader of bodies so that it ends, at the latest, when the watch gives up. */
export const bounded =
  (maxBytes: number, read: RequestHandler): RequestHandler =>
  (request, response, next) => {
    let isDone = false;
    const done = (error?: unknown) => {
      if (isDone) return;
      isDone = true;
      next(error);
    };
    watchBody(request, response, maxBytes, done);
    if (!isDone) return read(request, response, done);
  };
