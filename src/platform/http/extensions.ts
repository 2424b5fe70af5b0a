/** Tells callers which extensions are switched on, since they must know beforehand what may be repeated or streamed. */
import type { RequestHandler } from 'express';

const EXTENSIONS_HEADER = 'x-service-extensions';

/** Adds the header to every answer; there is none where no extension is switched on. */
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
