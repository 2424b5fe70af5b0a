/** The registry of endpoints as a whole: what each declaration must say, and what the surfaces may hold. */
import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import { PROBLEMS } from '../../src/platform/core/problem.ts';
import { NO_CONTENT, type Credential, type Endpoint } from '../../src/platform/http/endpoint.ts';
import { filesThatTest, readTestFiles } from '../support/http/endpoint-coverage.ts';
import { elsewhere } from '../support/http/endpoints-elsewhere.ts';
import { endpointTable } from '../support/http/endpoint-table.ts';
import { addressOf, byId, endpoints, parameterNames, PUBLIC_API } from '../support/http/endpoints.ts';
import { ABSENT, SPECIFIED } from '../support/http/specified.ts';

const files = await readTestFiles();

const CONTROL_PLANE =
  'workspaces agents runs projects workflows templates run-artifacts tools skills memory api-keys billing cost ' +
  'integrations webhooks scheduled-jobs feature-flags files output-destinations heartbeats system chat events crm-admin ' +
  'customers webhook-deliveries audit-log';
/** What the specification knows nothing of. */
const BESIDE_IT = ['mcp-servers', 'live', 'inbox', 'search', 'manifests', 'deploy-tokens', 'samples'];

const CREDENTIALS = {
  public: ['api-key'],
  'control-plane': ['session', 'admin', 'internal', 'identity', 'operator', 'provider'],
} satisfies Record<Endpoint['surface'], Credential[]>;

const STATUSES = [400, 401, 402, 403, 404, 408, 409, 413, 422, 431, 500, 502, 503, 507];

/** Of what the specification knows nothing of: streams, and parts of a file. */
const BESIDE_THEM: Readonly<Record<string, readonly number[]>> = {
  method_not_allowed: [405],
  too_many_streams: [429],
  range_not_satisfiable: [416],
};

const ofSurface = (surface: Endpoint['surface']) => endpoints.filter((endpoint) => endpoint.surface === surface);
const repeated = (values: string[]) => values.filter((value, at) => values.indexOf(value) !== at);

describe('all endpoints', () => {
  // Guards: an id names one endpoint, in the OpenAPI documents as in the tests.
  test('have ids of their own', () => {
    expect(endpoints.length).toBeGreaterThan(0);
    expect(repeated(endpoints.map(({ id }) => id))).toEqual([]);
  });

  // Guards: no endpoint hides another one.
  test.each(['public', 'control-plane'] as const)('have addresses of their own: %s', (surface) => {
    expect(repeated(ofSurface(surface).map(addressOf))).toEqual([]);
  });

  // Guards: the allowlist of public endpoints. A tenth one, or another path for one of them, is a change of the
  // product.
  test('of the public surface are the nine', () => {
    const served = Object.keys(PUBLIC_API).filter((address) => PUBLIC_API[address]);
    expect(Object.keys(PUBLIC_API)).toHaveLength(9);
    expect(ofSurface('public').map(addressOf).sort()).toEqual(served.sort());
  });

  // Guards: the control plane has the namespaces of its specification and no others.
  test('of the control plane are in its namespaces', () => {
    const namespaces = new Set([...CONTROL_PLANE.split(' '), ...BESIDE_IT].map((name) => `/v1/${name}`));
    const elsewhere = ofSurface('control-plane').filter(
      ({ path }) => !namespaces.has(path.split('/').slice(0, 3).join('/')),
    );
    expect(elsewhere.map(addressOf)).toEqual([]);
  });
});

describe('the specification', () => {
  const declared = new Map(ofSurface('control-plane').map((endpoint) => [addressOf(endpoint), endpoint.credential]));

  // Guards: every endpoint of the specification exists, and asks for the credential that it names.
  test.each([...SPECIFIED])('has %s (%s)', (address, credential) => {
    expect([address, declared.get(address)]).toEqual([address, credential]);
  });

  // Guards: an endpoint that the specification rules out does not exist by accident.
  test('rules some out', () => {
    expect(ABSENT.filter((address) => declared.has(address))).toEqual([]);
  });

  // Guards: the identity provider's token, the operator's and the billing provider's open their own endpoints and no
  // others.
  test('lets no other endpoint take tokens', () => {
    const open = [...declared].filter(([, credential]) => ['identity', 'operator', 'provider'].includes(credential));
    expect(open.filter(([address]) => !SPECIFIED.has(address))).toEqual([]);
  });
});

// Guards: addresses outside of the registry are in the documentation, each with a test.
test.each((await elsewhere()).map(({ address, tests }) => [address, tests]))('%s has a test', (_address, tests) => {
  expect(tests).not.toEqual([]);
});

describe.each(byId())('%s', (id, endpoint) => {
  const { method, surface, credential, params, query, body, upload, status, reply, summary, problems = [] } = endpoint;

  // Guards: a declaration is complete, because validation, documents and tests are made from it.
  test('is fully declared', () => {
    expect(id).toMatch(/^[a-z][a-z-]*\.[a-z][A-Za-z]*$/);
    expect(CREDENTIALS[surface]).toContain(credential);
    expect(summary).toMatch(/^[A-Z].{5,110}[^.\s]$/);
    expect(reply).toBeDefined();
    expect(status).toBe(reply === NO_CONTENT ? 204 : status === 201 ? 201 : 200);
    if (method === 'get') expect({ body, upload, status }).toEqual({ body: undefined, upload: undefined, status: 200 });
    if (method === 'delete') expect({ body, upload }).toEqual({ body: undefined, upload: undefined });
  });

  // Guards: every parameter of a path has a schema. One without would reach a query unchecked.
  test('validates exactly the parameters of its path', () => {
    expect(keysOf(params).sort()).toEqual(parameterNames(endpoint).sort());
    expect(keysOf(query).filter((name) => parameterNames(endpoint).includes(name))).toEqual([]);
  });

  // Guards: an endpoint that takes an id can answer not_found, and every declared problem is in the catalogue.
  test('names its problems', () => {
    expect(problems.filter((code) => !(code in PROBLEMS))).toEqual([]);
    expect(repeated([...problems])).toEqual([]);
    if (parameterNames(endpoint).length > 0) expect(problems).toContain('not_found');
  });

  // Guards: every endpoint has a test of its own. The generated tests do not count, because they know nothing of its
  // purpose.
  test('has a test', () => {
    if (filesThatTest(endpoint, files).length > 0) return;
    throw new Error(
      `no test calls ${addressOf(endpoint)}: write one under test/resources that has its method and its address, ` +
        `or its id '${id}', in the text`,
    );
  });
});

// Guards: an endpoint declares only statuses that callers of this service can get.
test.each(Object.entries(PROBLEMS))('problem %s has a status of the specification', (code, { status }) => {
  expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  expect([...STATUSES, ...(BESIDE_THEM[code] ?? [])]).toContain(status);
});

// Guards against: a problem that stays in the catalogue and in the client after the code that gave it was removed.
test('every problem can be given', () => {
  const sources = globSync('{src,activities,workflows}/**/*.ts')
    .filter((path) => path !== 'src/platform/core/problem.ts')
    .map((path) => readFileSync(path, 'utf8'))
    .join();
  const words = new Set(sources.match(/\w+/g));
  expect(Object.keys(PROBLEMS).filter((code) => !words.has(code))).toEqual([]);
});

// Guards: the documentation tells every endpoint as the program has it.
test('docs/endpoints.md is current', async () => {
  const { current, wanted } = await endpointTable();
  if (current !== wanted) throw new Error('docs/endpoints.md is out of date: npm run docs:endpoints');
  for (const { path } of endpoints) expect(current).toContain(`\`${path}\``);
});

const keysOf = (schema: z.ZodType | undefined): string[] =>
  Object.keys((schema as z.ZodObject | undefined)?.shape ?? {});
