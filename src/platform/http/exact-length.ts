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
 * Returns a step of a `pipeline` that passes bytes on. It fails before it would pass on too many, and at an end that comes too early:
 * Node would throw where nothing catches it.
 */
export const exactly = (sizeBytes: number) =>
  async function* (body: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
    let left = sizeBytes;
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk as Uint8Array);
      left -= bytes.length;
      if (left < 0) throw new Error(`the body has more bytes than its length of ${sizeBytes}`);
      yield bytes;
    }
    if (left > 0) throw new Error(`the body ended ${left} bytes before its length of ${sizeBytes}`);
  };
