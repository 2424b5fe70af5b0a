/**
 * Compresses what is worth it, and only that. What the library sets on a response are functions that are written where
 * they are assigned, which V8 takes for methods and makes old at once: they keep all of a request in memory until the
 * next great collection, and each small one copies it. So a small reply, which would not be compressed, goes without.
 */
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

/** The library's own threshold. */
const WORTH_LENGTH = 1_024;

export const compressed: RequestHandler = compression();

/** From here on what is sent is compressed, where the caller takes that. */
export function compress(request: Request, response: Response): void {
  compressed(request, response, () => {});
}

/** Sends JSON that is written already. */
export function sendJson(request: Request, response: Response, text: string): void {
  if (text.length >= WORTH_LENGTH) compress(request, response);
  response.type('json').send(text);
}
