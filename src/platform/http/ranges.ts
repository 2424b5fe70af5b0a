/** Answers a request for a part of a file, by which a download that broke off goes on where it stopped. */
import type { Request, Response } from 'express';
import { Problem } from '../core/problem.ts';
import type { FileReply, RangedReply } from './endpoint.ts';

/**
 * @returns the part that is asked for, and sets the status and headers that say so; all of it where none is, or several
 * are, or what the caller has the beginning of is another file
 * @throws Problem range_not_satisfiable
 */
export function partOf(request: Request, response: Response, reply: FileReply | RangedReply): FileReply {
  return 'open' in reply ? rangeOf(request, response, reply) : reply;
}

function rangeOf(request: Request, response: Response, { sizeBytes, tag, open, ...reply }: RangedReply): FileReply {
  const etag = `"${tag}"`;
  response.set({ etag, 'accept-ranges': 'bytes' });
  const ifRange = request.get('if-range');
  const asked = ifRange === undefined || ifRange === etag ? request.range(sizeBytes) : undefined;
  if (asked === -1) {
    response.set('content-range', `bytes */${sizeBytes}`);
    throw new Problem('range_not_satisfiable');
  }
  const one = Array.isArray(asked) && asked.type === 'bytes' && asked.length === 1 ? asked[0] : undefined;
  if (!one) return { ...reply, sizeBytes, body: open({ from: 0, to: sizeBytes - 1 }) };
  const { start: from, end: to } = one;
  response.status(206).set('content-range', `bytes ${from}-${to}/${sizeBytes}`);
  return { ...reply, sizeBytes: to + 1 - from, body: open({ from, to }) };
}
