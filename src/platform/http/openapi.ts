/**
 * The OpenAPI 3.1 document of a surface, built from the declarations that also validate its requests and replies.
 *
 * Whatever `app.ts`, the credential check or the proxy can answer for every endpoint is added here, so that a contract
 * names only what is its own. A reply that this file forgets is one that clients meet without warning.
 */
import { z } from 'zod';
import {
  createDocument,
  type ZodObjectInput,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiSecuritySchemeObject,
} from 'zod-openapi';
import type { Right } from '../core/rights.ts';
import { PROBLEMS, type ProblemCode } from '../core/problem.ts';
import type { Announcement } from './announcement.ts';
import { ADMIN_HEADER, OPERATOR_HEADER, SESSION_COOKIE } from './auth.ts';
import {
  BINARY,
  isForOpen,
  isStreamReply,
  NO_CONTENT,
  rightsAskedBy,
  OTP_CHALLENGE_HEADER,
  OTP_CODE_HEADER,
  type Credential,
  type Endpoint,
  type StreamReply,
} from './endpoint.ts';

import { KEY_HEADER, MAX_KEY_LENGTH } from './once-only.ts';
import { documentedOf } from './schemas.ts';
import { closedObjects } from './unknown-fields.ts';
import { BODIES, ProblemBody } from './problem-bodies.ts';

export interface OpenApiOptions {
  title: string;
  description: string;
  version: string;
  /** Paths are relative to these: `{base}` for the public API, `{base}/api/v1/cp` for the control plane. */
  servers: { url: string; description?: string }[];
  surface: Endpoint['surface'];
  /** Endpoints of the other surface are left out. */
  endpoints: readonly Endpoint[];
  /** Says what the endpoints of a tag are about, by tag. */
  tags?: Readonly<Record<string, string>>;
  /** What the service posts to addresses that callers of this surface register. */
  webhooks?: readonly Announcement[];
}

/** Building it takes long enough that callers do so once, on first use. */
export const openApiDocument = ({ surface, endpoints, servers, tags = {}, webhooks = [], ...info }: OpenApiOptions) => {
  const shown = endpoints.filter((endpoint) => endpoint.surface === surface);
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of shown) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operation(endpoint) };
  }
  // Receivers of what the service posts are to take fields that come later, so that only requests are closed.
  const closed = new Set<unknown>(shown.flatMap(({ body }) => (body ? closedObjects(documentedOf(body)) : [])));
  const used = [...new Set(shown.map(tagOf))]
    .sort()
    .map((name) => ({ name, ...(tags[name] && { description: tags[name] }) }));
  const components = { securitySchemes: SECURITY_SCHEMES[surface] };
  const told = Object.fromEntries(webhooks.map((each) => [each.event, { post: announced(each) }]));
  return createDocument(
    { openapi: '3.1.0', info, servers, tags: used, paths, webhooks: told, components },
    {
      override: ({ jsonSchema, zodSchema }) => {
        tellUnicodePattern(jsonSchema);
        if (closed.has(zodSchema)) jsonSchema.additionalProperties = false;
      },
    },
  );
};

/**
 * A pattern with classes of Unicode is of the flag `u`, which JSON Schema does not carry, and validators outside of
 * JavaScript refuse the whole document for it. It is told in words; the service checks it all the same.
 */
function tellUnicodePattern(schema: { pattern?: string | undefined; description?: string | undefined }): void {
  if (!schema.pattern?.includes('\\p{')) return;
  const told = `As in ECMAScript with the flag u: ${schema.pattern}`;
  schema.description = schema.description ? `${schema.description}. ${told}` : told;
  delete schema.pattern;
}

const SECURITY_SCHEMES: Record<Endpoint['surface'], Record<string, ZodOpenApiSecuritySchemeObject>> = {
  public: { apiKey: { type: 'http', scheme: 'bearer', description: 'API key: `svc_pk_...`' } },
  'control-plane': {
    session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Session of a signed-in person' },
    adminStamp: {
      type: 'apiKey',
      in: 'header',
      name: ADMIN_HEADER,
      description: 'Set by the browser proxy for owners and admins; callers of the proxy send nothing',
    },
    identity: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: "Access token of the identity provider; at the control plane's own address only",
    },
    operator: { type: 'apiKey', in: 'header', name: OPERATOR_HEADER, description: 'Token of who operates the service' },
    providerSignature: {
      type: 'apiKey',
      in: 'header',
      name: 'stripe-signature',
      description: "The billing provider's signature over the body",
    },
  },
};

/** A request must meet one of the requirements of its credential. */
const SECURITY: Record<Credential, { requirements: Record<string, string[]>[]; problems: ProblemCode[] }> = {
  'api-key': { requirements: [{ apiKey: [] }], problems: ['invalid_api_key', 'api_key_revoked'] },
  session: { requirements: [{ session: [] }], problems: ['auth_required'] },
  admin: { requirements: [{ session: [], adminStamp: [] }], problems: ['auth_required', 'admin_required'] },
  internal: { requirements: [{ session: [] }], problems: ['auth_required', 'internal_only'] },
  identity: {
    requirements: [{ session: [] }, { identity: [] }],
    problems: ['auth_required', 'identity_unreachable'],
  },
  operator: { requirements: [{ operator: [] }], problems: ['operator_disabled', 'invalid_operator_token'] },
  provider: { requirements: [{ providerSignature: [] }], problems: ['invalid_signature'] },
};

/** @returns whether the credential may be that of a member who only looks */
const isOfPeople = (credential: Credential): boolean => credential === 'session' || credential === 'identity';

const tagOf = ({ id }: Endpoint): string => id.split('.')[0]!;

const operation = (endpoint: Endpoint): ZodOpenApiOperationObject => ({
  operationId: endpoint.id,
  tags: [tagOf(endpoint)],
  summary: endpoint.summary,
  ...(endpoint.description && { description: endpoint.description }),
  ...(endpoint.deprecated && { deprecated: true }),
  security: SECURITY[endpoint.credential].requirements,
  requestParams: {
    ...(endpoint.params && { path: endpoint.params as ZodObjectInput }),
    ...(endpoint.query && { query: endpoint.query as ZodObjectInput }),
    ...headersOf(endpoint),
  },
  ...requestBody(endpoint),
  responses: { [endpoint.status]: successReply(endpoint), ...partReply(endpoint), ...problemReplies(endpoint) },
});

/** A request to an address of the caller's: its signature is in its headers, so that it shows no credential of ours. */
const announced = ({ event, summary, headers, body, answers }: Announcement): ZodOpenApiOperationObject => ({
  operationId: event,
  summary,
  security: [],
  requestParams: { header: headers as ZodObjectInput },
  requestBody: { required: true, content: { 'application/json': { schema: body } } },
  responses: { '2XX': { description: answers } },
});

function requestBody({ body, upload, uploads }: Endpoint): Pick<ZodOpenApiOperationObject, 'requestBody'> {
  if (uploads) {
    const { field, maxFiles, maxBytes } = uploads;
    const description = `Up to ${maxFiles} files of together at most ${maxBytes} bytes in the field \`${field}\``;
    const schema = z.object({ [field]: z.array(z.file()).min(1).max(maxFiles) });
    return { requestBody: { description, required: true, content: { 'multipart/form-data': { schema } } } };
  }
  if (upload) {
    const description = `One file of at most ${upload.maxBytes} bytes in the field \`file\``;
    const schema = body ? z.intersection(FilePart, body) : FilePart;
    return { requestBody: { description, required: true, content: { 'multipart/form-data': { schema } } } };
  }
  if (!body) return {};
  const required = !body.safeParse(undefined).success;
  return { requestBody: { required, content: { 'application/json': { schema: documentedOf(body) } } } };
}

const OtpHeaders = z.object({
  [OTP_CHALLENGE_HEADER]: z.string().optional().describe('`challenge_id` of the `otp_required` answer to this request'),
  [OTP_CODE_HEADER]: z.string().optional().describe('The six digits that were mailed'),
});

const KeyHeader = z.object({
  [KEY_HEADER]: z
    .string()
    .min(1)
    .max(MAX_KEY_LENGTH)
    .optional()
    .describe('A repeat with this key within 24 h is given the first answer again, with `Idempotency-Replayed: true`'),
});

const RangeHeaders = z.object({
  range: z.string().optional().describe('`bytes=1000-`: what is behind the first thousand; one range is answered'),
  'if-range': z.string().optional().describe('The `ETag` of what is there already: of another file all is answered'),
});

function headersOf({ otp, idempotent, ranged }: Endpoint): { header?: ZodObjectInput } {
  if (!otp && !idempotent && !ranged) return {};
  const shapes = {
    ...(otp && OtpHeaders.shape),
    ...(idempotent && KeyHeader.shape),
    ...(ranged && RangeHeaders.shape),
  };
  return { header: z.object(shapes) };
}

const FilePart = z.object({ file: z.file() });

const eventsOf = ({ events }: StreamReply) => ({ 'text/event-stream': { schema: events } });

function successReply({ reply, summary, stream }: Endpoint): ZodOpenApiResponseObject {
  if (reply === NO_CONTENT) return { description: 'Done; no body' };
  // The type is known only when the file is, so `*/*` keeps it open. Generators know bytes by the first.
  if (reply === BINARY) {
    const bytes = { schema: { type: 'string', format: 'binary' } } as const;
    return { description: 'The bytes of the file', content: { 'application/octet-stream': bytes, '*/*': bytes } };
  }
  if (isStreamReply(reply)) {
    return { description: 'Server-sent events; the schema is that of `data`', content: eventsOf(reply) };
  }
  return {
    description: summary,
    content: { 'application/json': { schema: reply as z.ZodType }, ...(stream && eventsOf(stream)) },
  };
}

const partReply = (endpoint: Endpoint): Record<string, ZodOpenApiResponseObject> =>
  endpoint.ranged ? { 206: { ...successReply(endpoint), description: 'The bytes that `Range` asks for' } } : {};

/** A viewer has none of these. */
const ONLY_LOOKS: readonly Right[] = ['workspace.change', 'manifests.apply'];

/**
 * @returns everything that can go wrong with this endpoint: its own problems, and those that its shape and surface
 * bring
 */
function problemsOf(endpoint: Endpoint) {
  const { surface, method, credential, params, query, body, upload, uploads, otp, idempotent, ranged, badInput } =
    endpoint;
  const { problems = [] } = endpoint;
  const codes: ProblemCode[] = [...SECURITY[credential].problems, ...problems];
  if (isForOpen(endpoint)) codes.push('workspace_archived');
  const rights = rightsAskedBy(endpoint);
  if (isOfPeople(credential) && rights.includes('workspace.look')) codes.push('deploys_only');
  if (isOfPeople(credential) && rights.some((one) => ONLY_LOOKS.includes(one))) codes.push('read_only');
  if (otp) codes.push('otp_required', 'otp_locked', 'otp_mail_limit', 'mail_failed');
  if (idempotent) codes.push('idempotency_key_reused', 'validation');
  if (ranged) codes.push('range_not_satisfiable');
  if (params || query || body) codes.push(badInput === 400 ? 'bad_request' : 'validation');
  // An address whose percent-encoding is broken fails before validation.
  if (params) codes.push('bad_request');
  if (upload || uploads) codes.push('invalid_upload', 'payload_too_large');
  else if (body) codes.push('invalid_json', 'bad_request', 'payload_too_large');
  // The proxy answers so where the control plane is another process.
  if (surface === 'control-plane') codes.push('runtime_unreachable');
  if (surface === 'control-plane' && method !== 'get') codes.push('foreign_origin');
  codes.push('request_timeout', 'headers_too_large', 'internal_error');
  codes.push('database_unreachable', 'storage_unavailable', 'storage_full');
  return [...new Set(codes)];
}

const problemReplies = (endpoint: Endpoint): Record<string, ZodOpenApiResponseObject> => {
  const byStatus = Map.groupBy(problemsOf(endpoint), (code) => PROBLEMS[code].status);
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, problemReply(codes)]));
};

function problemReply(codes: ProblemCode[]): ZodOpenApiResponseObject {
  const description = codes.map((code) => `\`${code}\``).join(', ');
  if (codes.includes('invalid_api_key')) {
    const schema = { type: 'string' as const, enum: codes.map(textOf) };
    return { description, content: { 'text/plain': { schema } } };
  }
  const schemas = [...new Set(codes.flatMap((code) => BODIES[code] ?? [ProblemBody]))];
  const schema = schemas.length === 1 ? schemas[0]! : z.union(schemas);
  const plain = codes.filter((code) => !BODIES[code]);
  const examples = Object.fromEntries(plain.map((code) => [code, { value: { detail: textOf(code) } }]));
  return { description, content: { 'application/json': { schema, examples } } };
}

const textOf = (code: ProblemCode): string => {
  const known: { status: number; detail?: string } = PROBLEMS[code];
  return known.detail ?? code;
};
