/**
 * The remote codec of the Temporal Web UI and CLI: `POST /codec/decode` opens what Temporal keeps sealed, `/codec/encode`
 * seals what somebody sends by hand. Whoever may ask reads everything of every tenant, so it takes the operator's token
 * or the session of an owner or admin of the workspace that operates the deployment.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';
import { parseCookie } from 'cookie';
import express, { type Request, type RequestHandler } from 'express';
import { z } from 'zod';
import { messageOf } from '../core/causes.ts';
import { safeEqual } from '../core/crypto.ts';
import { present } from '../core/present.ts';
import { Problem } from '../core/problem.ts';
import { demand } from '../core/rights.ts';
import { OPERATOR_HEADER, readSession, SESSION_COOKIE, sessionCaller, type FindSession } from './auth.ts';

const MAX_BYTES = '20mb';
const Base64 = z.base64();
/** Temporal's tools write payloads like this, as the JSON form of protobuf. */
const Body = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), Base64).optional(), data: Base64.optional() })),
});

export interface CodecOptions {
  codec: PayloadCodec;
  operatorToken: string;
  sessionSecret: string;
  findSession: FindSession;
  /** The address of the Temporal Web UI: in a browser only its pages may ask. */
  uiUrl: string | undefined;
}

export function codecRouter({ codec, uiUrl, ...credentials }: CodecOptions): express.Router {
  const router = express.Router({ caseSensitive: true });
  const origin = uiUrl && new URL(uiUrl).origin;
  router.use(allow(origin));
  for (const direction of ['encode', 'decode'] as const) {
    router.post(
      `/${direction}`,
      authorized(credentials, origin),
      express.json({ limit: MAX_BYTES, type: () => true }),
      async (request, response) => {
        const body = Body.safeParse(request.body);
        if (!body.success)
          throw new Problem('bad_request', 'expects {payloads: [{metadata, data}]} with base64 in them');
        const payloads = body.data.payloads.map(fromJson);
        const answer = await codec[direction](payloads).catch((error: unknown) => {
          throw new Problem('bad_request', messageOf(error));
        });
        response.json({ payloads: answer.map(toJson) });
      },
    );
  }
  return router;
}

/** Answers the preflight request of a browser, and lets that page read the reply. */
const allow =
  (origin: string | undefined): RequestHandler =>
  (request, response, next) => {
    response.vary('Origin');
    if (origin !== undefined && request.get('origin') === origin) {
      response.set({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type, authorization, x-namespace, caller-type',
        // Without it the page could not read the reply, as the listener's own policy keeps replies to its own origin.
        'cross-origin-resource-policy': 'cross-origin',
      });
    }
    if (request.method === 'OPTIONS') response.status(204).end();
    else next();
  };

const authorized =
  (
    { operatorToken, sessionSecret, findSession }: Omit<CodecOptions, 'codec' | 'uiUrl'>,
    origin: string | undefined,
  ): RequestHandler =>
  async (request, _response, next) => {
    const token = bearerOf(request) ?? request.get(OPERATOR_HEADER);
    if (token !== undefined) {
      if (!operatorToken) throw new Problem('operator_disabled');
      if (!safeEqual(token, operatorToken)) throw new Problem('invalid_operator_token');
      return next();
    }
    // A cookie comes along from any page, so it counts only where the request comes from the Web UI.
    const from = request.get('origin');
    const session =
      from === undefined || from === origin ? parseCookie(request.headers.cookie ?? '')[SESSION_COOKIE] : undefined;
    const claims = readSession(session, sessionSecret);
    if (!claims || (await findSession(present(session), claims)).isEnded) throw new Problem('auth_required');
    const caller = sessionCaller(claims);
    demand(caller, 'deployment.routes');
    demand(caller, 'payloads.decode');
    next();
  };

const bearerOf = (request: Request): string | undefined =>
  /^Bearer (\S+)$/i.exec(request.get('authorization') ?? '')?.[1];

type JsonPayload = z.infer<typeof Body>['payloads'][number];

const fromJson = ({ metadata = {}, data = '' }: JsonPayload): Payload => ({
  metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
  data: Buffer.from(data, 'base64'),
});

const base64 = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('base64');
const toJson = ({ metadata, data }: Payload): JsonPayload => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
  data: base64(data),
});
