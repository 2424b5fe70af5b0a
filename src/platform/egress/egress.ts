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
import type { Outgoing } from './direct.ts';
import { limited, PATIENT, send, type BodyLimits, type Fetch, type LimitedFetch } from './limits.ts';
import { followingRedirects } from './redirects.ts';

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

/** They are made when something goes out for the first time: nothing else needs the package. */
async function agentsOf(lookup: LookupFunction) {
  // The major version has to be that of the undici inside Node, because `fetch` refuses an agent of another one.
  const { Agent, buildConnector } = await import('undici');
  const connect = buildConnector({ lookup: guardLookup(lookup) });
  const guarded = new Agent({
    ...PATIENT,
    // Sockets ask no resolver about a literal address, so such an address is checked here.
    connect(options, callback) {
      const reason = forbiddenHost(options.hostname);
      if (reason) callback(new ForbiddenAddressError(`${options.hostname} is ${reason}`), null);
      else connect(options, callback);
    },
  });
  return { open: new Agent(PATIENT), guarded };
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

  const reachOne = async (url: URL, init: Outgoing, trusted: boolean): Promise<Response> => {
    const reason = refusal(url, trusted);
    if (reason) throw new ForbiddenAddressError(reason);
    const { open, guarded } = await (agents ??= agentsOf(lookup));
    const dispatcher = trusted ? open : guarded;
    try {
      return await send(url, init, dispatcher);
    } catch (error) {
      // `fetch` wraps a failure to connect, and keeps only the text of an error from another realm.
      const [, refused] = /ForbiddenAddressError: (.*)/.exec(String(errorOf(error).cause)) ?? [];
      throw refused ? new ForbiddenAddressError(refused, { cause: error }) : error;
    }
  };

  const reach: Fetch = (input, init) => {
    // The caller may name an allow-listed address. A redirect leads there only from another allow-listed one:
    // a public server must not choose what is reached inside.
    let trusted = true;
    return followingRedirects((url, request) => {
      trusted &&= allowed.has(hostAndPort(url));
      return reachOne(url, request, trusted);
    })(input, init);
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
