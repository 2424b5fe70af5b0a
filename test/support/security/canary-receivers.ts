/**
 * Receivers that know which secrets were given for them. Each secret is a text that is nowhere else; a receiver that sees
 * one which was given for another origin has caught a leak.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '../../../src/resources/webhook-subscriptions/signature.ts';
import { portOf } from '../processes/listening.ts';
import { startMailServer, type MailServer } from '../fakes/smtp-server.ts';

/** What came in one request, as it came. */
interface Received {
  /** Request line and headers. */
  head: string;
  body: string;
  signature: string | undefined;
}

export interface CanaryReceiver {
  /** Without a path. */
  origin: string;
  /** For `EGRESS_ALLOWLIST`. */
  hostAndPort: string;
  received: Received[];
  /** Every request is redirected there from now on, with 307 and below the path of before; undefined: answered with 200. */
  redirectTo: string | undefined;
  close(): Promise<void>;
}

export async function startCanaryReceiver(): Promise<CanaryReceiver> {
  const server = createServer(async (request, response) => {
    const { method, url = '', headers, rawHeaders } = request;
    const signature = headers['x-service-signature'];
    receiver.received.push({
      head: [method, url, ...rawHeaders].join('\n'),
      body: await text(request),
      signature: typeof signature === 'string' ? signature : undefined,
    });
    if (receiver.redirectTo !== undefined) response.writeHead(307, { location: receiver.redirectTo + url }).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostAndPort = `127.0.0.1:${portOf(server)}`;
  const receiver: CanaryReceiver = {
    origin: `http://${hostAndPort}`,
    hostAndPort,
    received: [],
    redirectTo: undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

export interface CanaryMailServer extends MailServer {
  /** Users and passwords that somebody logged in with. */
  logins: string[];
}

/** A mail server in the clear that takes every login. */
export async function startCanaryMailServer(): Promise<CanaryMailServer> {
  const logins: string[] = [];
  const server = await startMailServer({
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      logins.push(username ?? '', password ?? '');
      done(null, { user: 'anybody' });
    },
  });
  return { ...server, logins };
}

/** The secrets of a test by what each is, with the origins that each was given for. */
export function createCanaries() {
  const known: { secret: string; origins: readonly string[] }[] = [];

  const spellings = (secret: string): string[] => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('hex'),
  ];
  const isIn = (secret: string, { head, body, signature }: Received): boolean =>
    spellings(secret).some((spelling) => head.includes(spelling) || body.includes(spelling)) ||
    verifyWebhook(secret, signature, body, { toleranceS: Infinity });

  return {
    /** @returns a new secret that is for these origins */
    secretFor(...origins: readonly string[]): string {
      const secret = `canary-${known.length}-${Math.random().toString(36).slice(2)}`;
      known.push({ secret, origins });
      return secret;
    },

    /** Whether a secret has arrived, which shows that what uses it is under test. */
    hasArrived: (secret: string, { received }: CanaryReceiver): boolean => received.some((one) => isIn(secret, one)),

    /** @returns what the receiver has seen of secrets that were given for other origins */
    leaksTo: ({ origin, received }: CanaryReceiver): string[] =>
      known
        .filter(({ secret, origins }) => !origins.includes(origin) && received.some((one) => isIn(secret, one)))
        .map(({ secret, origins }) => `${secret}, given for ${origins.join(', ')}, came to ${origin}`),
  };
}
