/**
 * The only way out for what a tenant or a model names: webhooks, tools, MCP servers, output destinations.
 *
 * The address actually connected to is checked, on every connection and every redirect. Anything that fetches such
 * an address by other means, or follows a `location` by hand, gives its caller our network.
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { errorOf } from '../core/causes.ts';
import { ForbiddenAddressError, forbiddenHost, guardLookup } from './addresses.ts';
import { limited, type BodyLimits, type LimitedFetch } from './limits.ts';

export { ForbiddenAddressError } from './addresses.ts';

/** A `fetch` that reaches public addresses only and whose answers have an end. */
export type GuardedFetch = LimitedFetch;

export interface Egress {
  /** @throws ForbiddenAddressError for an address that must not be reached; otherwise as `fetch` does */
  fetch: GuardedFetch;
  /** @returns why this URL can never be fetched, as far as it can be told without DNS */
  isForbiddenUrl(url: string): string | undefined;
  close(): Promise<void>;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Only these headers follow a redirect to another origin, because any other may be somebody's credential. */
const HARMLESS_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

const hostAndPort = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;

const parseAllowlist = (entries: readonly string[]): Set<string> =>
  new Set(
    entries.map((entry) => {
      const address = `http://${entry}`;
      if (!/:\d+$/.test(entry) || !URL.canParse(address))
        throw new Error(`egress allow-list: ${entry} is not host:port`);
      return hostAndPort(new URL(address));
    }),
  );

/** @returns why an address that a tenant registers can never be used, as far as it can be told without DNS */
export function addressProblem(
  egress: Pick<Egress, 'isForbiddenUrl'>,
  url: string,
  { allowHttp }: { allowHttp: boolean },
): string | undefined {
  const forbidden = egress.isForbiddenUrl(url);
  if (forbidden !== undefined) return forbidden;
  const { protocol } = new URL(url);
  return protocol === 'https:' || (allowHttp && protocol === 'http:') ? undefined : 'only https is allowed';
}

/** Builds the request of the next hop, by the rules of the fetch standard and the one on headers above. */
const follow = (init: RequestInit, status: number, from: URL, to: URL): RequestInit => {
  const headers = new Headers(init.headers);
  const method = init.method?.toUpperCase() ?? 'GET';
  const becomesGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST';
  for (const name of [...headers.keys()]) {
    if (from.origin !== to.origin && !HARMLESS_HEADERS.has(name)) headers.delete(name);
    if (becomesGet && name.startsWith('content-')) headers.delete(name);
  }
  return becomesGet ? { ...init, headers, method: 'GET', body: null } : { ...init, headers };
};

/** They are made when something goes out for the first time: nothing else needs the package. */
async function agentsOf(lookup: LookupFunction) {
  // The major version has to be that of the undici inside Node, because `fetch` refuses an agent of another one.
  const { Agent, buildConnector } = await import('undici');
  const connect = buildConnector({ lookup: guardLookup(lookup) });
  const guarded = new Agent({
    // Sockets ask no resolver about a literal address, so such an address is checked here.
    connect(options, callback) {
      const reason = forbiddenHost(options.hostname);
      if (reason) callback(new ForbiddenAddressError(`${options.hostname} is ${reason}`), null);
      else connect(options, callback);
    },
  });
  return { open: new Agent(), guarded };
}

/**
 * @param allowlist `host:port` pairs that may be reached although they are private
 * @param limits of an answer, unless the request has others
 * @param lookup replaces the system's resolver
 */
export const createEgress = ({
  allowlist,
  allowHttp = false,
  limits,
  lookup = systemLookup as LookupFunction,
}: {
  allowlist: readonly string[];
  allowHttp?: boolean;
  limits: BodyLimits;
  lookup?: LookupFunction;
}): Egress => {
  const allowed = parseAllowlist(allowlist);
  let agents: ReturnType<typeof agentsOf> | undefined;

  const refusal = (url: URL, trusted: boolean): string | undefined => {
    if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
      return `only https${allowHttp ? ' and http' : ''} addresses are allowed`;
    }
    if (url.username || url.password) return 'an address must not carry credentials';
    const reason = trusted ? undefined : forbiddenHost(url.hostname);
    return reason && `${url.hostname} is ${reason}`;
  };

  const send = async (url: URL, init: RequestInit, trusted: boolean): Promise<Response> => {
    const reason = refusal(url, trusted);
    if (reason) throw new ForbiddenAddressError(reason);
    const { open, guarded } = await (agents ??= agentsOf(lookup));
    const dispatcher = trusted ? open : guarded;
    try {
      return await fetch(url, { ...init, redirect: 'manual', dispatcher } as RequestInit);
    } catch (error) {
      // `fetch` wraps a failure to connect, and keeps only the text of an error from another realm.
      const [, refused] = /ForbiddenAddressError: (.*)/.exec(String(errorOf(error).cause)) ?? [];
      throw refused ? new ForbiddenAddressError(refused, { cause: error }) : error;
    }
  };

  const reach = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    let url = new URL(input);
    let request = init;
    // The caller may name an allow-listed address. A redirect leads there only from another allow-listed one:
    // a public server must not choose what is reached inside.
    let trusted = allowed.has(hostAndPort(url));
    for (let hops = 0; ; hops += 1) {
      const response = await send(url, request, trusted);
      const location = response.headers.get('location');
      if (!REDIRECTS.has(response.status) || location === null || init.redirect === 'manual') return response;

      await response.body?.cancel();
      if (init.redirect === 'error') throw new TypeError('the address answers with a redirect');
      if (hops === MAX_REDIRECTS) throw new TypeError(`more than ${MAX_REDIRECTS} redirects`);
      if (!URL.canParse(location, url.href))
        throw new TypeError('the address redirects to something that is no address');
      const next = new URL(location, url);
      request = follow(request, response.status, url, next);
      trusted &&= allowed.has(hostAndPort(next));
      url = next;
    }
  };

  return {
    fetch: limited(reach, limits),
    isForbiddenUrl(text) {
      if (!URL.canParse(text)) return 'not a valid address';
      const url = new URL(text);
      return refusal(url, allowed.has(hostAndPort(url)));
    },
    async close() {
      const made = await agents;
      await Promise.all([made?.open.destroy(), made?.guarded.destroy()]);
    },
  };
};
