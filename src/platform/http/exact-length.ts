/**
 * Holds a reply to its `content-length`. A reply with more or fewer bytes would shift every later reply on the connection, and a
 * proxy that shares connections would give them to other callers.
 */
import type { RequestHandler } from 'express';

/**
 * Makes Node throw when a reply is written that does not have its length; every listener has it first. Node looks at a first write only
 * if the headers have gone out before it, so a body whose length is given goes through `exactly` as well.
 */
export const strictLength: RequestHandler = (_request, response, next) => {
  response.strictContentLength = true;
  next();
};

/**
 * Returns a step of a `pipeline` that passes on a body of `sizeBytes` bytes. It fails for a body of another length: Node would throw
 * where nothing catches it. The last piece waits for the end of the body, so that a body that is too long is never a whole reply.
 */
export const exactly = (sizeBytes: number) =>
  async function* (body: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
    let left = sizeBytes;
    let held: Uint8Array | undefined;
    for await (const chunk of body) {
      if (chunk.length === 0) continue;
      const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      left -= piece.length;
      if (left < 0) throw new Error(`the body has more bytes than its length of ${sizeBytes}`);
      if (held) yield held;
      held = piece;
    }
    if (left > 0) throw new Error(`the body ended ${left} bytes before its length of ${sizeBytes}`);
    if (held) yield held;
  };
