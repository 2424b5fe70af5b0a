/**
 * Makes an Express router of a list of routes. Everything an endpoint has in common with the others happens here, in
 * one order: credential, body, validation, handler, reply check, error body.
 */
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import express from 'express';
import multer from 'multer';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { sha256 } from '../core/crypto.ts';
import type { Log } from '../core/log.ts';
import type { PageKeys } from '../core/page-keys.ts';
import { Problem } from '../core/problem.ts';
import { can, demand } from '../core/rights.ts';
import { isDatabaseAway } from '../db/away.ts';
import { urgently } from '../db/client.ts';
import { forWorkspace } from '../fairness/workspace-context.ts';
import { isStorageFull } from '../files/disk.ts';
import { maskPageKeys } from '../files/mask-page-keys.ts';
import { withAudit, type AuditTrail } from './audit.ts';
import { bounded } from './bounded.ts';
import { compress, sendJson } from './compressed.ts';
import {
  BINARY,
  demandOpen,
  isStreamReply,
  NO_CONTENT,
  OTP_CHALLENGE_HEADER,
  OTP_CODE_HEADER,
  PROBLEM_HEADER,
  rightsAskedBy,
  type Caller,
  type Credential,
  type Endpoint,
  type EndpointRequest,
  type EventStream,
  type FileReply,
  type RangedReply,
  type Route,
} from './endpoint.ts';
import { exactly } from './exact-length.ts';
import { MANY_VALUES, manyValues, OTHER_CHARSET, refuseManyValues } from './many-values.ts';
import { partOf } from './ranges.ts';
import { createStreamSender, type StreamSender } from './stream.ts';
import { REPLAYED_HEADER, repeatableRequest, type Claim, type OnceOnly } from './once-only.ts';
import { inTraceOf } from './tracing.ts';
import { filesOf, storableName, uploadProblem } from './uploads.ts';
import { parseRequest } from './validate.ts';
import { jsonTextFor, streamFor } from './reply-text.ts';

const MAX_JSON_BYTES = 2 ** 20;

/** @throws Problem 401 or 403 when the request does not show the credential */
export type Authenticate = (credential: Credential, request: Request) => Promise<Caller>;

export interface SurfaceOptions {
  routes: readonly Route[];
  authenticate: Authenticate;
  audit?: AuditTrail;
  /** Answers repeated requests, where that extension is switched on. */
  onceOnly?: OnceOnly | undefined;
  /** With them callers who may answer pages get working addresses. */
  pageKeys?: PageKeys;
}

export function createSurface({ routes, authenticate, ...options }: SurfaceOptions): express.Router {
  const sendStream = createStreamSender();
  return routerOf(routes, (route) => [
    authenticated(route.endpoint, authenticate),
    ...bodyReader(route.endpoint),
    answer(route, { ...options, sendStream }),
  ]);
}

/**
 * Finds a route by method and address. A gateway in front of another process uses the same router, so that both agree
 * on what exists.
 */
export function routerOf<R extends Pick<Route, 'endpoint'>>(
  routes: readonly R[],
  handlersOf: (route: R) => RequestHandler[],
): express.Router {
  const router = express.Router({ caseSensitive: true, strict: false });
  // Express would answer these itself: OPTIONS with the methods a path has, HEAD like GET. Neither is declared.
  router.options('/{*path}', notFound);
  router.head('/{*path}', notFound);
  for (const route of inMatchingOrder(routes)) {
    const { method, path } = route.endpoint;
    router[method](path.replace(/\{(\w+)\}/g, ':$1'), ...handlersOf(route));
  }
  return router;
}

/**
 * Sorts `/v1/runs/costs` before `/v1/runs/{id}`: a literal wins over a parameter, whatever the order of declaration.
 */
const inMatchingOrder = <R extends Pick<Route, 'endpoint'>>(routes: readonly R[]): R[] =>
  [...routes].sort((a, b) => (matchKey(a.endpoint.path) < matchKey(b.endpoint.path) ? -1 : 1));
const matchKey = (path: string): string => path.replace(/\{\w+\}/g, '~');

const authenticated =
  (endpoint: Endpoint, authenticate: Authenticate): RequestHandler =>
  async (request, response, next) => {
    response.locals.route = endpoint.path;
    const admit = async (): Promise<Caller> => {
      const caller = await urgently(() => authenticate(endpoint.credential, request));
      for (const right of rightsAskedBy(endpoint)) demand(caller, right);
      demandOpen(endpoint, caller);
      return caller;
    };
    response.locals.caller = await admit();
    response.locals.admit = admit;
    next();
  };

// Any content type is read as JSON: what is not JSON is then a clear 400 rather than a silently missing body.
const jsonReader = (maxBytes: number): RequestHandler =>
  bounded(
    maxBytes,
    express.json({
      limit: maxBytes,
      strict: false,
      type: (request) => !isMultipart(request),
      verify: refuseManyValues,
    }),
  );
const readJson = jsonReader(MAX_JSON_BYTES);
const readRaw = bounded(MAX_JSON_BYTES, express.raw({ limit: MAX_JSON_BYTES, type: () => true }));
const isMultipart = (request: { headers: { 'content-type'?: string } }) =>
  request.headers['content-type']?.startsWith('multipart/') ?? false;

function bodyReader(endpoint: Endpoint): RequestHandler[] {
  if (endpoint.rawBody) return [readRaw];
  if (endpoint.upload) return [fileReader(endpoint.upload.maxBytes)];
  if (endpoint.maxBodyBytes) return [jsonReader(endpoint.maxBodyBytes)];
  return endpoint.body ? [readJson] : [];
}

/** @returns how large the body of a request to this endpoint may be */
export const maxBytesOf = ({ upload, uploads, maxBodyBytes = MAX_JSON_BYTES }: Endpoint): number =>
  upload?.maxBytes ?? uploads?.maxBytes ?? maxBodyBytes;

function fileReader(maxBytes: number): RequestHandler {
  const limits = { fileSize: maxBytes, files: 1, fields: 10 };
  const read = multer({ storage: multer.memoryStorage(), limits, defParamCharset: 'utf8' }).single('file');
  return bounded(maxBytes, (request, response, next) =>
    read(request, response, (error) => next(error && uploadProblem(error))),
  );
}

const answer =
  (
    route: Route,
    {
      audit,
      onceOnly,
      pageKeys,
      sendStream,
    }: Omit<SurfaceOptions, 'routes' | 'authenticate'> & { sendStream: StreamSender },
  ): RequestHandler =>
  async (request, response) => {
    const { endpoint, handler } = route;
    const { params, query, body } = parseRequest(endpoint, {
      params: request.params,
      query: request.query,
      body: endpoint.rawBody ? undefined : request.body,
    });
    response.locals.isHandling = true;
    const admit = response.locals.admit as () => Promise<Caller>;
    const caller = response.locals.caller as Caller;
    const asked: EndpointRequest = {
      caller,
      params,
      query,
      body,
      confirmation: {
        operation: endpoint.id,
        bodyHash: sha256(JSON.stringify([params, query, body])),
        challengeId: request.get(OTP_CHALLENGE_HEADER),
        code: request.get(OTP_CODE_HEADER),
      },
      header: (name) => request.get(name),
      rawBody: endpoint.rawBody ? rawBodyOf(request) : undefined,
      file: request.file && { filename: storableName(request.file.originalname), bytes: request.file.buffer },
      receiveFiles: filesOf(request, response, endpoint.uploads, admit),
    };
    // An upload may have taken minutes, so the caller's right to it is checked once more.
    if (endpoint.upload) await admit();
    const stream = asksForEvents(request) ? route.stream : undefined;
    const work = (claim?: Claim) =>
      inTraceOf(response, () =>
        urgently(() =>
          forWorkspace(caller.customerId, () =>
            withAudit(audit, route, asked, () => (stream ?? handler)(claim ? { ...asked, claim } : asked)),
          ),
        ),
      );
    const repeatable = onceOnly && repeatableRequest(endpoint, request, asked);
    if (repeatable) {
      const kept = await onceOnly(repeatable, response, async (claim) => replyOf(endpoint, await work(claim)));
      if (kept.isReplayed) response.set(REPLAYED_HEADER, 'true');
      sendJson(request, response.status(endpoint.status), jsonTextFor(caller, kept.body, pageKeys));
      return;
    }
    const result = await work();
    if (stream || isStreamReply(endpoint.reply)) {
      let current = caller;
      const events = streamFor(() => current, result as EventStream, pageKeys);
      await sendStream(request, response, events, admit, (admitted) => void (current = admitted));
    } else await send(endpoint, { request, response, caller, pageKeys }, result);
  };

/** JSON stands first, so that a caller that accepts everything gets the ordinary reply. */
const asksForEvents = (request: Request): boolean =>
  request.accepts(['application/json', 'text/event-stream']) === 'text/event-stream';

/** The reader leaves an object where there is no body at all. */
const rawBodyOf = ({ body }: Request): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

interface Exchange {
  request: Request;
  response: Response;
  caller: Caller;
  pageKeys: PageKeys | undefined;
}

async function send(
  endpoint: Endpoint,
  { request, response, caller, pageKeys }: Exchange,
  result: unknown,
): Promise<void> {
  response.status(endpoint.status);
  if (endpoint.reply === NO_CONTENT) {
    response.end();
    return;
  }
  if (endpoint.reply === BINARY) {
    const { contentType, body, sizeBytes, filename } = partOf(request, response, result as FileReply | RangedReply);
    // Waits for the first bytes: a file that cannot be read then still becomes an error with a body.
    if (body.destroyed) throw body.errored ?? new Error(`${endpoint.id} replies with a closed stream`);
    await once(body, 'readable');
    if (filename) response.attachment(filename);
    // The content type is set after the name, because setting the name would choose a type by its extension.
    response.set({ 'content-type': contentType, 'x-content-type-options': 'nosniff' });
    if (sizeBytes !== undefined) response.set('content-length', String(sizeBytes));
    // Traces, counts, the log, compression and the pipe itself wait for the end of a reply, which is more than the ten
    // listeners that Node takes for a leak.
    response.setMaxListeners(20);
    compress(request, response);
    const whole = sizeBytes === undefined ? body : Readable.from(exactly(sizeBytes)(body));
    await (can(caller, 'workspace.change') ? pipeline(whole, response) : pipeline(whole, maskPageKeys(), response));
    return;
  }
  sendJson(request, response, jsonTextFor(caller, JSON.stringify(replyOf(endpoint, result)), pageKeys));
}

/** A reply that breaks its own contract is our bug: it fails here, and fields nobody declared never leave. */
function replyOf({ id, reply }: Endpoint, result: unknown): unknown {
  const parsed = (reply as z.ZodType).safeParse(result);
  if (!parsed.success) throw new Error(`${id} breaks its contract: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Answers whatever no route took. */
export const notFound: RequestHandler = () => {
  throw new Problem('not_found');
};

/** Errors become bodies here and nowhere else. */
export const errorHandler =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, request, response, _next) => {
    const problem = problemOf(error, response);
    const context = { err: error, request_id: request.id, path: request.path };
    if (!problem) log.error(context, 'request failed');
    // Something that the service depends on failed; its own words are for the operator alone.
    else if (problem.status > 500) log.warn(context, 'request not served');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const { status, detail, code, retryAfterS } = problem ?? new Problem('internal_error');
    response.status(status).set(PROBLEM_HEADER, code);
    if (retryAfterS !== undefined) response.set('retry-after', String(retryAfterS));
    // The key guard answers in plain text; everything else in one JSON form.
    if (code === 'invalid_api_key' || code === 'api_key_revoked') response.type('text/plain').send(detail);
    else response.json({ detail });
  };

function problemOf(error: unknown, { locals }: Response): Problem | undefined {
  if (error instanceof Problem) return error;
  if (isDatabaseAway(error)) return new Problem('database_unreachable');
  if (isStorageFull(error)) return new Problem('storage_full');
  return locals.isHandling ? undefined : readingProblem(error);
}

/**
 * Turns errors of the body parser and the router, which are the caller's doing, into problems. It is only for errors
 * from before the handler: libraries that a handler uses give their errors a status too, and that one is not for the
 * caller.
 */
function readingProblem(error: unknown): Problem | undefined {
  const { type, status } = error as { type?: string; status?: number };
  if (type === 'entity.parse.failed') return new Problem('invalid_json');
  if (type === MANY_VALUES) return manyValues();
  if (type === OTHER_CHARSET) return new Problem('bad_request', 'the charset of a JSON body must be utf-8');
  if (type === 'entity.too.large') return new Problem('payload_too_large');
  if (status !== undefined && status >= 400 && status < 500) return new Problem('bad_request', 'malformed request');
  return undefined;
}
