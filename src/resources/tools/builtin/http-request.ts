/** Sends one HTTP request to a public address, through the guarded `fetch`. */
import { z } from 'zod';
import { ForbiddenAddressError } from '../../../platform/egress/egress.ts';
import { bodyLimitIn } from '../../../platform/egress/limits.ts';
import { readCapped } from '../../../platform/egress/read-capped.ts';
import { checkedHeaders, codeOf, NOT_SENT, textOf } from '../http.ts';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const MAX_BODY_BYTES = 64 * 1_024;

const SHOWN_HEADERS = [
  'content-type',
  'content-length',
  'date',
  'etag',
  'last-modified',
  'link',
  'location',
  'retry-after',
];

const request = z.strictObject({
  method: z.enum(METHODS).default('GET'),
  url: z.string().min(1).max(8_000).describe('A public https address'),
  headers: z.record(z.string().max(200), z.string().max(8_000)).optional(),
  body: z.string().max(1_000_000).optional().describe('Text to send; say what it is in the content-type header'),
  timeout_s: z.number().int().min(1).max(120).default(30).describe('Seconds until it gives up'),
});

const explain = (error: unknown, { method, url }: z.output<typeof request>): unknown => {
  if (error instanceof ForbiddenAddressError) return new ToolError(`this address is not allowed: ${error.message}`);
  if (NOT_SENT.test(codeOf(error))) return new ToolError(`${new URL(url).host} cannot be reached: ${codeOf(error)}`);
  const limit = READING.has(method) && bodyLimitIn(error);
  if (limit) return new ToolError(limit.message);
  // Nobody knows whether the request was carried out, which is not for the model to judge.
  return error;
};

export const httpRequest = builtinTool({
  slug: 'http_request',
  area: 'web',
  description:
    'Sends one HTTP request to a public internet address. Use it to read a page or call an API whose address you know; ' +
    'private and local addresses are refused. GET, HEAD and OPTIONS follow redirects; the others answer with the ' +
    'redirect, and are never repeated by themselves. ' +
    'Returns {status, headers, body, url}, body as text and at most 64 KB: truncated is true when there was more, ' +
    'and body is null when it is not text. A status of 400 and above is returned, not raised.',
  effect: ({ method }) => (READING.has(method) ? 'read' : 'irreversible'),
  args: request,
  async execute(args, { fetch, signal }) {
    const { method, url, body, timeout_s } = args;
    if (!URL.canParse(url))
      throw new ToolError(`${JSON.stringify(url)} is not a complete address such as https://example.com/`);
    const reading = READING.has(method);
    if (reading && body !== undefined)
      throw new ToolError(`${method} takes no body: put it in the address, or use POST`);
    const headers = checkedHeaders(args.headers ?? {});
    try {
      const sent: RequestInit = {
        method,
        headers,
        signal,
        // A POST that was answered has happened, so what its redirect leads to must not make it fail.
        redirect: reading ? 'follow' : 'manual',
        ...(body === undefined ? {} : { body }),
      };
      const limits = { totalMs: timeout_s * 1_000, raisedBy: { time: 'timeout_s' } };
      const response = await fetch(url, sent, limits);
      const { bytes, cut } = await readCapped(response, MAX_BODY_BYTES);
      return {
        status: response.status,
        headers: Object.fromEntries([...response.headers].filter(([name]) => SHOWN_HEADERS.includes(name))),
        body: textOf(bytes, response.headers.get('content-type'), cut),
        ...(cut ? { truncated: true } : {}),
        url: response.url,
      };
    } catch (error) {
      throw explain(error, args);
    }
  },
});
