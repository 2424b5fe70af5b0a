/**
 * Refuses bodies of very many values before they are parsed. Parsing, checking and storing each take their time for each
 * value, on the one thread that serves everybody; counting them takes a tenth of that.
 */
import { Problem } from '../core/problem.ts';

export const MAX_VALUES = 100_000;
/** The body parser passes its errors on by their type. */
export const MANY_VALUES = 'entity.too.many';
/** The parser's own type for charsets that it does not know. */
export const OTHER_CHARSET = 'charset.unsupported';

export const manyValues = (): Problem =>
  new Problem('payload_too_large', `payload_too_large: a body has at most ${MAX_VALUES} values`);

const [QUOTE, COMMA, BACKSLASH, BRACKET, BRACE] = [0x22, 0x2c, 0x5c, 0x5b, 0x7b];

/**
 * Is the `verify` of a JSON body parser. JSON is UTF-8; the parser would decode other charsets, in which these bytes stand
 * for something else and values could not be counted.
 * @throws Error of the type `MANY_VALUES` or `OTHER_CHARSET`
 */
export function refuseManyValues(_request: unknown, _response: unknown, body: Buffer, charset: string): void {
  if (charset !== 'utf-8') throw Object.assign(new Error('JSON is UTF-8'), { type: OTHER_CHARSET, status: 415 });
  let values = 0;
  let isText = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === COMMA || byte === BRACKET || byte === BRACE) values++;
  }
  if (values > MAX_VALUES) throw Object.assign(new Error('too many values'), { type: MANY_VALUES });
}
