/**
 * Follows redirects, and keeps credentials where they belong. The `fetch` of Node takes `authorization` and `cookie` out
 * of a request that is redirected to another origin, but leaves headers such as `x-api-key`.
 */

import type { Outgoing } from './direct.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Only these headers follow a redirect to another origin, because any other may be somebody's credential. */
const HARMLESS_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

/** Builds the request of the next hop, by the rules of the fetch standard and the one on headers above. */
const nextRequest = (init: Outgoing, status: number, from: URL, to: URL): Outgoing => {
  const headers = new Headers(init.headers);
  const method = init.method?.toUpperCase() ?? 'GET';
  const becomesGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST';
  for (const name of [...headers.keys()]) {
    if (from.origin !== to.origin && !HARMLESS_HEADERS.has(name)) headers.delete(name);
    if (becomesGet && name.startsWith('content-')) headers.delete(name);
  }
  return becomesGet ? { ...init, headers, method: 'GET', body: null } : { ...init, headers };
};

/**
 * Makes a `fetch` that follows redirects as its `redirect` option says.
 * @param send makes the request of one hop, and must not follow redirects itself
 */
export const followingRedirects =
  (send: (url: URL, init: Outgoing) => Promise<Response>) =>
  async (input: string | URL, init: Outgoing = {}): Promise<Response> => {
    let url = new URL(input);
    let request = init;
    for (let hops = 0; ; hops += 1) {
      const response = await send(url, request);
      const location = response.headers.get('location');
      if (!REDIRECTS.has(response.status) || location === null || init.redirect === 'manual') return response;

      await response.body?.cancel();
      if (init.redirect === 'error') throw new TypeError('the address answers with a redirect');
      if (hops === MAX_REDIRECTS) throw new TypeError(`more than ${MAX_REDIRECTS} redirects`);
      if (!URL.canParse(location, url.href))
        throw new TypeError('the address redirects to something that is no address');
      const next = new URL(location, url);
      request = nextRequest(request, response.status, url, next);
      url = next;
    }
  };
