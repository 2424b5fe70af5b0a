/**
 * An endpoint is declared once. Validation, handler types, the OpenAPI documents, the reference page and the generated
 * authentication and tenancy tests all derive from that one value.
 */
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { Problem, type ProblemCode } from '../core/problem.ts';
import { isEnough, type Right, type Standing } from '../core/rights.ts';
import type { FileStore } from '../files/files.ts';
import type { Claim } from './once-only.ts';

/**
 * What a request must show before anything else of it is looked at.
 * - `api-key`: `Authorization: Bearer svc_pk_...` (public surface)
 * - `session`: `x-service-session` header, which the proxy makes of the cookie
 * - `admin`: a session and the proxy's admin stamp
 * - `internal`: a session of the workspace that operates the deployment
 * - `identity`: a session, or `Authorization: Bearer` with an access token of the identity provider
 * - `operator`: `x-operator-token`; nobody's session
 * - `provider`: nothing here, as the handler checks the signature over the raw body
 */
export type Credential = 'api-key' | 'session' | 'admin' | 'internal' | 'identity' | 'operator' | 'provider';

/** Who is calling. Everything a tenant owns is looked up with `customerId`; nothing of it comes from the request. */
export interface Caller {
  /** The workspace's id, such as `acc_acme`. */
  workspaceId: string;
  customerId: string;
  /** Records of who did something name this: an e-mail address, or `api-key:<id>`. */
  actor: string;
  /** What the caller may do beyond what everybody of the workspace may. Only `can` looks into it. */
  standing: Standing;
  /** The workspace is archived or being taken down: the caller may look at what there was, and change nothing. */
  isArchived?: boolean;
}

/** Marks a reply without a body. */
export const NO_CONTENT = 'no-content';
/** Marks a reply of bytes; the handler gives a `FileReply`. */
export const BINARY = 'binary';

/** A reply of server-sent events, for as long as the caller listens; the handler gives an `EventStream`. */
export interface StreamReply<Event extends z.ZodType = z.ZodType> {
  /** The schema of `data` in each event. */
  events: Event;
}
export const streamOf = <Event extends z.ZodType>(events: Event): StreamReply<Event> => ({ events });
export const isStreamReply = (reply: object | string): reply is StreamReply =>
  typeof reply === 'object' && 'events' in reply;

/**
 * Events as the wire has them (`frameOf` in `stream.ts`), in pieces of whole events. It is always begun, also where the
 * connection is gone by then, and ends soon after the signal that tells so.
 */
export type EventStream = (gone: AbortSignal) => AsyncIterable<string>;

export interface FileReply {
  contentType: string;
  body: Readable;
  sizeBytes?: number;
  filename?: string;
}

/** A file of which a part can be asked for, so that a download that broke off goes on. */
export interface RangedReply extends Omit<FileReply, 'body' | 'sizeBytes'> {
  sizeBytes: number;
  /** Another content has another tag. */
  tag: string;
  /** Bytes from one place to the other, both included. */
  open: (range: { from: number; to: number }) => Readable;
}

/** One uploaded file that is held in memory, which is why only endpoints with small limits declare `upload`. */
export interface UploadedFile {
  filename: string;
  bytes: Buffer;
}

/** Limits the files of a multipart request, in one field, that are streamed to storage. */
export interface UploadLimits {
  field: string;
  maxFiles: number;
  /** All files together may have so many bytes. */
  maxBytes: number;
}

/** An uploaded file that is in storage now. */
export interface ReceivedFile {
  key: string;
  /** The name that the caller wrote, without characters that cannot be stored. */
  filename: string;
  /** The type is told by the content; it is never one that a browser would run. */
  contentType: string;
  sizeBytes: number;
  sha256: string;
}

/**
 * Streams the files of a request to storage and has `keep` record them. They are gone again where the request is
 * refused or breaks off, and where `keep` throws a Problem. A handler first looks whether it wants them at all.
 * @param to where they go, under keys that are not the caller's
 * @throws Problem invalid_upload, payload_too_large
 */
export type ReceiveFiles = <T>(
  to: { files: Pick<FileStore, 'putStream' | 'discard'>; newKey: () => string },
  keep: (files: readonly ReceivedFile[]) => Promise<T>,
) => Promise<T>;

type Schema = z.ZodType;
type ReplySchema = Schema | typeof NO_CONTENT | typeof BINARY | StreamReply;

export interface Endpoint<
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
  Reply extends ReplySchema = ReplySchema,
> {
  /** `<resource>.<verb>`, unique over both surfaces; it also names the endpoint in the audit log and in the client. */
  id: string;
  surface: 'public' | 'control-plane';
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The path with its parameters as `{name}`. */
  path: string;
  credential: Credential;
  /**
   * The caller must have this right: it is checked right after the credential, before anything else of the request is
   * looked at.
   */
  right?: Right;
  summary: string;
  description?: string;
  /** The endpoint is still served for those who know it; the documents call it deprecated. */
  deprecated?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Fields and parameters that may be sent and have no effect. Any other that is not declared is refused. */
  ignored?: readonly string[];
  /** The handler gets the body as it came, a Buffer, to check a signature over it; `body` then only documents it. */
  rawBody?: true;
  /**
   * False says that the endpoint changes no configuration and is left out of the audit log. True says of a GET that it
   * takes out so much at once that it is recorded. Otherwise everything but GET is.
   */
  audited?: boolean;
  /**
   * The endpoint serves an archived workspace although it is no GET: it is about the end of the workspace, or begins it
   * anew.
   */
  whileArchived?: true;
  /**
   * Where the extension is on, a request with an `Idempotency-Key` is answered once: the handler looks at `claim`, so that
   * it makes nothing that an earlier try made. The reply is JSON.
   */
  idempotent?: true;
  /** The endpoint takes a code that the caller is mailed: the handler passes `confirmation` on to the OTP gate. */
  otp?: true;
  /** The reply of bytes is a `RangedReply`. */
  ranged?: true;
  /** The endpoint takes one file in the multipart field `file`. */
  upload?: { maxBytes: number };
  /** The endpoint takes files that are too large to be held in memory; the handler gets them by `receiveFiles`. */
  uploads?: UploadLimits;
  /** A body of JSON may have so many bytes, in the place of one megabyte. */
  maxBodyBytes?: number;
  /** Status of bad input. 400 says `{detail: <message>}`, 422 lists every field. */
  badInput?: 400 | 422;
  /** Callers who ask for `text/event-stream` get this instead. The extension sets it; declarations do not. */
  stream?: StreamReply;
  /** The one status of success, and its body. */
  status: 200 | 201 | 204;
  reply: Reply;
  /** Failures beyond authentication, bad input and `internal_error`, which every endpoint has. */
  problems?: readonly ProblemCode[];
}

/**
 * @returns the rights that a caller must have, in the order in which they are asked for. What changes something asks for
 * the right to, so that a viewer is refused wherever nobody thought of one.
 */
export const rightsAskedBy = ({ right, method }: Endpoint): Right[] => {
  if (right && isEnough(right)) return [right];
  return ['workspace.look', ...(right ? [right] : []), ...(method === 'get' ? [] : (['workspace.change'] as const))];
};

/** @returns whether an archived workspace is refused */
export const isForOpen = ({ method, credential, whileArchived }: Endpoint): boolean =>
  method !== 'get' && credential !== 'provider' && credential !== 'operator' && !whileArchived;

/** @throws Problem workspace_archived */
export function demandOpen(endpoint: Endpoint, { isArchived }: Caller): void {
  if (isArchived && isForOpen(endpoint)) throw new Problem('workspace_archived');
}

/** What a declaration leaves out if it is as usual. */
type Usual = 'surface' | 'method' | 'credential' | 'status';

/**
 * Declares an endpoint. Unless it says otherwise:
 * - `surface` is the control plane;
 * - `credential` is a session on the control plane, and an API key on the public surface;
 * - `method` is `post` if it takes a body, else `get`;
 * - `status` is 204 if it replies without a body, else 200.
 */
export const endpoint = <
  Params extends Schema = z.ZodType<Record<string, never>>,
  Query extends Schema = z.ZodType<Record<string, never>>,
  Body extends Schema = z.ZodType<undefined>,
  Reply extends ReplySchema = ReplySchema,
>(
  declaration: Omit<Endpoint<Params, Query, Body, Reply>, Usual> & Partial<Pick<Endpoint, Usual>>,
): Endpoint<Params, Query, Body, Reply> => ({
  surface: 'control-plane',
  method: declaration.body ? 'post' : 'get',
  credential: declaration.surface === 'public' ? 'api-key' : 'session',
  status: declaration.reply === NO_CONTENT ? 204 : 200,
  ...declaration,
});

/**
 * Every answer with a problem has its name in this header, so that clients need not parse the body, whose words may be
 * more precise.
 */
export const PROBLEM_HEADER = 'x-service-problem';

export const SESSION_HEADER = 'x-service-session';
export const OTP_CHALLENGE_HEADER = 'x-service-otp-challenge';
export const OTP_CODE_HEADER = 'x-service-otp-code';

/** What a request shows to the OTP gate, which may demand a code that was mailed. */
export interface Confirmation {
  /** The id of the endpoint. */
  operation: string;
  /**
   * A hash of everything the caller asked for: path parameters, query and body. A code is good for this request alone.
   */
  bodyHash: string;
  challengeId: string | undefined;
  code: string | undefined;
  /** Id of the action link that asks; without one the caller asks. Limits are counted for each link alone. */
  linkId?: string;
}

export interface EndpointRequest<Params = unknown, Query = unknown, Body = unknown> {
  caller: Caller;
  params: Params;
  query: Query;
  body: Body;
  confirmation: Confirmation;
  /** Set for a request with an `Idempotency-Key`, where the endpoint declares `idempotent` and the extension is on. */
  claim?: Claim | undefined;
  /**
   * Reads a header by its name in any case. It serves what proxies in front of the service say, and never tells who is
   * calling.
   */
  header: (name: string) => string | undefined;
  /** Set where the endpoint declares `rawBody`. */
  rawBody: Buffer | undefined;
  /** Set where the endpoint declares `upload`. */
  file: UploadedFile | undefined;
  /** Usable where the endpoint declares `uploads`. */
  receiveFiles: ReceiveFiles;
}

type HandlerReply<Reply> = Reply extends Schema
  ? z.input<Reply>
  : Reply extends typeof BINARY
    ? FileReply | RangedReply
    : Reply extends StreamReply
      ? EventStream
      : void;

/** A workspace that a request is about, though it is not the caller's own. */
export type Concern = ({ workspaceId: string } | { customerId: string }) & {
  /** The request makes this workspace, so that its log begins here. */
  isNew?: boolean;
  /** That workspace is told this in the place of the body, which may be about others too. */
  change?: Record<string, unknown>;
};

/** An endpoint bound to what answers it. */
export interface Route {
  endpoint: Endpoint;
  handler: (request: EndpointRequest) => Promise<unknown>;
  /** Answers in the place of the handler, where the endpoint has a `stream` and a request asks for it. */
  stream?: (request: EndpointRequest) => Promise<EventStream>;
  /**
   * @returns the other workspaces that the request is about: what the operator's people do to a tenant is in the
   * tenant's audit log too
   */
  concerned?: (asked: Pick<EndpointRequest, 'params' | 'query' | 'body'>) => Concerned;
}
type Concerned = readonly Concern[] | Promise<readonly Concern[]>;

export const handle = <Params extends Schema, Query extends Schema, Body extends Schema, Reply extends ReplySchema>(
  declaration: Endpoint<Params, Query, Body, Reply>,
  handler: (
    request: EndpointRequest<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<HandlerReply<Reply>>,
  concerned?: (
    asked: Pick<EndpointRequest<z.output<Params>, z.output<Query>, z.output<Body>>, 'params' | 'query' | 'body'>,
  ) => Concerned,
): Route => ({
  endpoint: declaration as unknown as Endpoint,
  handler: handler as Route['handler'],
  ...(concerned && { concerned: concerned as NonNullable<Route['concerned']> }),
});
