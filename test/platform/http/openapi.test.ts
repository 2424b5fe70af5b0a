/** The OpenAPI document of a surface, made from declarations that use every feature a contract has. */
import { expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { BINARY, endpoint, NO_CONTENT, type Endpoint } from '../../../src/platform/http/endpoint.ts';
import { openApiDocument } from '../../../src/platform/http/openapi.ts';
import { limit, Timestamp, Usd } from '../../../src/platform/http/schemas.ts';

const Kite = z.object({ id: z.int(), flown_at: Timestamp.nullable(), cost_usd: Usd }).meta({ id: 'Kite' });
const KitePath = z.object({ kite_id: z.uuid() });
const session = { surface: 'control-plane', credential: 'session' } as const;

const getKite = endpoint({
  id: 'kites.get',
  surface: 'public',
  method: 'get',
  path: '/v1/kites/{kite_id}',
  credential: 'api-key',
  summary: 'A kite',
  params: KitePath,
  status: 200,
  reply: Kite,
  problems: ['not_found'],
});
const listKites = endpoint({
  ...session,
  id: 'kites.list',
  method: 'get',
  path: '/v1/kites',
  summary: 'Kites',
  description: 'Newest first.',
  query: z.object({ colour: z.union([z.string(), z.array(z.string())]).optional(), limit: limit(500, 50) }),
  status: 200,
  reply: z.object({ data: z.array(Kite), meta: z.object({ total: z.int() }) }),
});
const createKite = endpoint({
  ...session,
  id: 'kites.create',
  method: 'post',
  path: '/v1/kites',
  summary: 'Make a kite',
  body: z.object({ name: z.string().min(1), extra: z.record(z.string(), z.unknown()).default({}) }),
  badInput: 400,
  status: 201,
  reply: Kite,
  problems: ['plan_limit_exceeded', 'workspace_archived', 'slug_taken'],
});
const updateKite = endpoint({
  ...session,
  id: 'kites.update',
  method: 'patch',
  path: '/v1/kites/{kite_id}',
  credential: 'admin',
  summary: 'Change a kite',
  params: KitePath,
  body: z.object({ name: z.string() }).partial().default({}),
  status: 200,
  reply: Kite,
  problems: ['builtin_immutable'],
});
const deleteKite = endpoint({
  ...session,
  id: 'kites.delete',
  method: 'delete',
  path: '/v1/kites/{kite_id}',
  summary: 'Delete a kite',
  params: KitePath,
  status: 204,
  reply: NO_CONTENT,
});
const putPicture = endpoint({
  ...session,
  id: 'kite-pictures.put',
  method: 'put',
  path: '/v1/kites/{kite_id}/picture',
  summary: 'Set the picture',
  params: KitePath,
  upload: { maxBytes: 1_000 },
  status: 200,
  reply: Kite,
});
const getPicture = endpoint({
  ...session,
  id: 'kite-pictures.get',
  method: 'get',
  path: '/v1/kites/{kite_id}/picture',
  summary: 'The picture',
  params: KitePath,
  status: 200,
  reply: BINARY,
});
const endpoints = [
  getKite,
  listKites,
  createKite,
  updateKite,
  deleteKite,
  putPicture,
  getPicture,
] as unknown as Endpoint[];

interface Reply {
  description: string;
  content?: Record<string, { schema: unknown; examples?: unknown }>;
}
interface Operation {
  operationId: string;
  tags: string[];
  description?: string;
  security: unknown;
  parameters?: { name: string; in: string; required?: boolean; schema: unknown }[];
  requestBody?: { required: boolean; content: Record<string, { schema: unknown }> };
  responses: Record<string, Reply>;
}
interface Document {
  tags: unknown;
  servers: unknown;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

const documentOf = (surface: Endpoint['surface']) =>
  openApiDocument({
    title: 'Kites',
    description: 'All kites.',
    version: '1.2.3',
    servers: [{ url: 'http://localhost:8080' }],
    surface,
    tags: { kites: 'Kites that fly', 'kite-pictures': 'What they look like' },
    endpoints,
  }) as unknown as Document;

const publicDocument = documentOf('public');
const controlPlane = documentOf('control-plane');
const kite = present(controlPlane.paths['/v1/kites/{kite_id}']);

// Guards: the documents are valid OpenAPI 3.1 for every feature of a declaration.
test.each([
  ['public', publicDocument],
  ['control plane', controlPlane],
])('the %s document is valid', async (_name, document) => {
  const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
});

// Guards: the check above can fail.
test('an invalid document is refused', async () => {
  const broken = structuredClone(publicDocument);
  Reflect.deleteProperty(broken.paths['/v1/kites/{kite_id}']!.get!.responses[200]!, 'description');
  expect(await new Validator().validate({ ...broken })).toMatchObject({ valid: false });
});

// Guards: a document shows its own surface and nothing of the other.
test('splits by surface', () => {
  expect(Object.keys(publicDocument.paths)).toEqual(['/v1/kites/{kite_id}']);
  expect(Object.keys(present(publicDocument.paths['/v1/kites/{kite_id}']))).toEqual(['get']);
  expect(Object.keys(publicDocument.components.securitySchemes)).toEqual(['apiKey']);
  expect(Object.keys(kite).sort()).toEqual(['delete', 'patch']);
  expect(Object.keys(controlPlane.components.securitySchemes)).toEqual([
    ...['session', 'adminStamp', 'identity', 'operator', 'providerSignature'],
  ]);
  expect(controlPlane.tags).toEqual([
    { name: 'kite-pictures', description: 'What they look like' },
    { name: 'kites', description: 'Kites that fly' },
  ]);
});

// Guards: names and credentials of an operation are those of its declaration.
test('operations carry id, tag, description and credential', () => {
  const list = controlPlane.paths['/v1/kites']!.get!;
  expect(list).toMatchObject({ operationId: 'kites.list', tags: ['kites'], description: 'Newest first.' });
  expect(list.security).toEqual([{ session: [] }]);
  expect(present(kite.patch).security).toEqual([{ session: [], adminStamp: [] }]);
  expect(publicDocument.paths['/v1/kites/{kite_id}']!.get!.security).toEqual([{ apiKey: [] }]);
});

// Guards: parameters say where they go, whether they are required and what they may be.
test('parameters', () => {
  expect(present(kite.delete).parameters).toMatchObject([{ name: 'kite_id', in: 'path', required: true }]);
  const { parameters = [] } = controlPlane.paths['/v1/kites']!.get!;
  expect(parameters.map(({ name, in: place, required }) => [name, place, required])).toEqual([
    ['colour', 'query', undefined],
    ['limit', 'query', undefined],
  ]);
  expect(itemAt(parameters, 1).schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 500, default: 50 });
});

// Guards: a client learns which bodies may be left out, and how a file is sent.
test('bodies', () => {
  const create = controlPlane.paths['/v1/kites']!.post!.requestBody!;
  expect(create.required).toBe(true);
  expect(present(create.content['application/json']).schema).toMatchObject({ required: ['name'] });
  expect(kite.patch!.requestBody!.required).toBe(false);
  const upload = controlPlane.paths['/v1/kites/{kite_id}/picture']!.put!.requestBody!;
  expect(upload.required).toBe(true);
  expect(present(upload.content['multipart/form-data']).schema).toMatchObject({
    type: 'object',
    properties: { file: { type: 'string', format: 'binary' } },
    required: ['file'],
  });
});

// Guards: each kind of reply has its own schema; named schemas are shared, in the form that is sent and not the one
// that is stored.
test('replies', () => {
  expect(kite.delete!.responses[204]!.content).toBeUndefined();
  const picture = controlPlane.paths['/v1/kites/{kite_id}/picture']!.get!.responses[200]!;
  const bytes = { schema: { type: 'string', format: 'binary' } };
  expect(picture.content).toEqual({ 'application/octet-stream': bytes, '*/*': bytes });
  expect(controlPlane.paths['/v1/kites']!.post!.responses[201]!.content).toEqual({
    'application/json': { schema: { $ref: '#/components/schemas/Kite' } },
  });
  expect(controlPlane.components.schemas.Kite).toMatchObject({
    required: ['id', 'flown_at', 'cost_usd'],
    properties: { flown_at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] } },
  });
});

const statuses = ({ responses }: Operation) =>
  Object.fromEntries(Object.entries(responses).map(([status, { description }]) => [status, description]));

// Guards: the document has every status that the service can answer, with the codes that share it.
test('problems', () => {
  expect(statuses(publicDocument.paths['/v1/kites/{kite_id}']!.get!)).toEqual({
    200: 'A kite',
    400: '`bad_request`',
    401: '`invalid_api_key`, `api_key_revoked`',
    404: '`not_found`',
    408: '`request_timeout`',
    422: '`validation`',
    431: '`headers_too_large`',
    500: '`internal_error`',
    503: '`database_unreachable`, `storage_unavailable`',
    507: '`storage_full`',
  });
  expect(statuses(controlPlane.paths['/v1/kites']!.get!)).toEqual({
    200: 'Kites',
    401: '`auth_required`',
    403: '`deploys_only`',
    408: '`request_timeout`',
    422: '`validation`',
    431: '`headers_too_large`',
    500: '`internal_error`',
    502: '`runtime_unreachable`',
    503: '`database_unreachable`, `storage_unavailable`',
    507: '`storage_full`',
  });
  expect(statuses(controlPlane.paths['/v1/kites']!.post!)).toEqual({
    201: 'Make a kite',
    400: '`bad_request`, `invalid_json`',
    401: '`auth_required`',
    403: '`plan_limit_exceeded`, `workspace_archived`, `deploys_only`, `read_only`, `foreign_origin`',
    408: '`request_timeout`',
    409: '`slug_taken`',
    413: '`payload_too_large`',
    431: '`headers_too_large`',
    500: '`internal_error`',
    502: '`runtime_unreachable`',
    503: '`database_unreachable`, `storage_unavailable`',
    507: '`storage_full`',
  });
  expect(statuses(present(kite.patch))).toMatchObject({
    400: '`builtin_immutable`, `bad_request`, `invalid_json`',
    403: '`admin_required`, `workspace_archived`, `foreign_origin`',
    413: '`payload_too_large`',
    422: '`validation`',
  });
  expect(statuses(controlPlane.paths['/v1/kites/{kite_id}/picture']!.put!)).toMatchObject({
    400: '`bad_request`, `invalid_upload`',
    413: '`payload_too_large`',
  });
});

// Guards: error bodies have the shapes that the service sends, including the plain-text ones.
test('problem bodies', () => {
  const { responses } = publicDocument.paths['/v1/kites/{kite_id}']!.get!;
  expect(present(responses[401]).content).toEqual({
    'text/plain': { schema: { type: 'string', enum: ['invalid api key', 'api key revoked'] } },
  });
  expect(present(responses[404]).content).toEqual({
    'application/json': {
      schema: { $ref: '#/components/schemas/Problem' },
      examples: { not_found: { value: { detail: 'not_found' } } },
    },
  });
  expect(responses[422]!.content!['application/json']!.schema).toEqual({
    $ref: '#/components/schemas/ValidationProblem',
  });
  const create = controlPlane.paths['/v1/kites']!.post!.responses;
  expect(create[403]!.content!['application/json']!.schema).toEqual({
    anyOf: [{ $ref: '#/components/schemas/PlanLimitProblem' }, { $ref: '#/components/schemas/Problem' }],
  });
  expect(create[401]!.content!['application/json']!.schema).toEqual({
    anyOf: [{ $ref: '#/components/schemas/Problem' }, { $ref: '#/components/schemas/NoSessionCookie' }],
  });
  expect(publicDocument.components.schemas.Problem).toMatchObject({
    properties: { detail: { type: 'string' } },
    required: ['detail'],
  });
});
