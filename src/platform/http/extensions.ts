/** Tells callers which extensions are switched on: what may be repeated, or streamed, is for them to know beforehand. */
import type { RequestHandler } from 'express';

const EXTENSIONS_HEADER = 'x-service-extensions';

/** On every answer; nothing at all where none is switched on. */
export function tellExtensions(names: ReadonlySet<string>): RequestHandler[] {
  if (names.size === 0) return [];
  const told = [...names].sort().join(', ');
  return [
    (_request, response, next) => {
      response.set(EXTENSIONS_HEADER, told);
      next();
    },
  ];
}
