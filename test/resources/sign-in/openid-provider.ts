/** A certified OpenID provider, and a browser without a screen that goes through its forms. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import Provider from 'oidc-provider';
import { present } from '../../../src/platform/core/present.ts';
import { portOf } from '../../support/processes/listening.ts';

const CLIENT = { OIDC_CLIENT_ID: 'the-service', OIDC_CLIENT_SECRET: 'a-secret-of-the-service-at-the-provider' };

interface Person {
  email?: string;
  email_verified?: boolean;
  groups?: string | string[];
}

export interface OpenIdOptions {
  redirectUri: string;
  /** By the name they log in with. */
  people: Record<string, Person>;
  /** In the id token; else only where the access token is shown. */
  claimsInToken: boolean;
}

/** Listens at once, and is no provider until it is opened: until then whoever asks gets 503. */
export async function startOpenIdProvider() {
  let answer: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://localhost:${portOf(server)}`;
  return {
    settings: { OIDC_ISSUER: issuer, ...CLIENT },
    open({ redirectUri, people, claimsInToken }: OpenIdOptions) {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT.OIDC_CLIENT_ID,
            client_secret: CLIENT.OIDC_CLIENT_SECRET,
            redirect_uris: [redirectUri],
            response_types: ['code'],
            grant_types: ['authorization_code'],
          },
        ],
        claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
        conformIdTokenClaims: !claimsInToken,
        pkce: { required: () => true },
        cookies: { keys: ['a key of the test'] },
        findAccount: (_context: unknown, name: string) => ({
          accountId: name,
          claims: () => ({ sub: name, ...people[name] }),
        }),
      });
      answer = provider.callback() as RequestListener;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Follows redirects with its cookies, fills in what the provider asks, and stops at the address that is given. */
export function newVisitor() {
  const jars = new Map<string, Map<string, string>>();

  async function fetchAs(url: URL, init: RequestInit = {}): Promise<Response> {
    // Cookies are those of a host and port here: stricter than a browser.
    const jar = jars.get(url.host) ?? new Map<string, string>();
    jars.set(url.host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = present(/^([^=]+)=([^;]*)/.exec(line));
      if (value === '') jar.delete(present(name));
      else jar.set(present(name), present(value));
    }
    return response;
  }

  /** @param until path of the answer that is wanted */
  async function follow(
    url: URL,
    until: (url: URL) => boolean,
    name: string,
  ): Promise<{ url: URL; response: Response }> {
    let next: { url: URL; init?: RequestInit } = { url };
    for (let steps = 0; steps < 20; steps += 1) {
      if (until(next.url)) return { url: next.url, response: await fetchAs(next.url, next.init) };
      const response = await fetchAs(next.url, next.init);
      const location = response.headers.get('location');
      if (location) {
        next = { url: new URL(location, next.url) };
        continue;
      }
      const page = await response.text();
      const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
      const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
      if (!action || !prompt) throw new Error(`no form at ${next.url.href}: ${response.status} ${page.slice(0, 500)}`);
      const body = new URLSearchParams({ prompt, login: name, password: 'any' });
      next = { url: new URL(action, next.url), init: { method: 'POST', body } };
    }
    throw new Error('went in circles');
  }

  return {
    follow,
    fetchAs,
    cookie: (host: string, name: string) => jars.get(host)?.get(name),
  };
}
