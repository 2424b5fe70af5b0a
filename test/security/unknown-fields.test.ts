/** Every endpoint refuses what it does not know, in body and query, by being declared. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../../src/platform/http/endpoint.ts';
import { closedObjects } from '../../src/platform/http/unknown-fields.ts';
import { byId, endpoints } from '../support/http/endpoints.ts';
import { send } from '../support/http/send.ts';
import { startTestService, type Answer, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_unknown');
});
afterAll(() => service.close());

/** Nothing of the address needs to exist: what a request says is looked at before what it is about. */
const params = () => ({ identity_workspace_id: tenant.caller.workspaceId, id: tenant.caller.workspaceId });
const ask = (endpoint: Endpoint, parts: object) => send(service, tenant, endpoint, { params: params(), ...parts });

/** What the answer says about one name; the order of the faults is nobody's business. */
function saidOf({ status, body }: Answer, place: string, name: string): string | undefined {
  if (status === 400) {
    return body.detail.startsWith(`${name}: `) ? body.detail.slice(name.length + 2) : undefined;
  }
  if (status !== 422) return undefined;
  const isOfIt = ({ loc }: { loc: string[] }) => loc.length === 2 && loc[0] === place && loc[1] === name;
  return body.detail.find(isOfIt)?.msg;
}

// Its requests are the billing provider's, who adds what it likes.
const asked = endpoints.filter(({ credential }) => credential !== 'provider');

describe.each(byId(asked))('%s', (_id, endpoint) => {
  // Guards: a misspelled parameter is refused rather than ignored, also where an endpoint takes none.
  test('refuses an unknown parameter', async () => {
    const answer = await ask(endpoint, { query: { zz_unknown: 'x' }, ...(endpoint.body && { body: {} }) });
    expect(saidOf(answer, 'query', 'zz_unknown')).toMatch(/^Unknown parameter/);
  });
});

const withBody = asked.filter(({ body, upload, uploads }) => body && !upload && !uploads);

describe.each(byId(withBody))('%s', (id, endpoint) => {
  // Guards: a misspelled field, a budget say, is refused with the name that was meant.
  test('refuses an unknown field', async () => {
    const unknown = await ask(endpoint, { body: { zz_unknown: 'x' } });
    expect(saidOf(unknown, 'body', 'zz_unknown')).toMatch(/^Unknown field/);
    if (id === 'workspaces.setState') return;
    const name = Object.keys(shapeOf(endpoint)).find((field) => field.length > 3);
    if (name === undefined) return;
    const misspelled = `${name.slice(0, 1)}${name.slice(2)}`;
    const answer = await ask(endpoint, { body: { [misspelled]: 'x' } });
    expect(saidOf(answer, 'body', misspelled)).toBe(`Unknown field; did you mean "${name}"?`);
  });

  // Guards: whose something is comes from the credential; what the body says about it has no effect, and is no error.
  test('ignores who the caller claims to be', async () => {
    const claims = ['customer_id', 'owner_kind', 'owner_id', 'decided_by'];
    const body = Object.fromEntries(claims.map((name) => [name, 'x']));
    // An empty change is one all the same.
    const answer = await ask(endpoint, { body });
    for (const name of claims) expect(saidOf(answer, 'body', name) ?? '').not.toMatch(/^Unknown/);
  });
});

const shapeOf = ({ body }: Endpoint): object => {
  const [outer] = body ? closedObjects(body) : [];
  return outer && 'shape' in outer ? Object(outer.shape) : {};
};

// Guards: a field of a part of the body is known there only, and its part is told.
test('fields are known where they stand', async () => {
  const body = { prompt: 'Hi', override: { cost_budget: '1' }, channel: 'x', 'cost-budget-usd': 1 };
  const { status, body: said } = await tenant.api('POST', '/v1/runs', body);
  expect({ status, detail: said.detail }).toEqual({
    status: 422,
    detail: [
      {
        loc: ['body', 'override', 'cost_budget'],
        msg: 'Unknown field; did you mean "cost_budget_usd"?',
        type: 'unrecognized_keys',
      },
      { loc: ['body', 'channel'], msg: 'Unknown field; did you mean "channel_id"?', type: 'unrecognized_keys' },
      {
        loc: ['body', 'cost-budget-usd'],
        msg: expect.stringMatching(/^Unknown field; known are agent, transport, prompt, /),
        type: 'unrecognized_keys',
      },
    ],
  });
});

// Guards: what the specification says is ignored stays so: every key has full access to its workspace.
test('scopes of a key are ignored', async () => {
  expect((await tenant.cp('POST', '/v1/api-keys', { name: 'scoped', scopes: ['read'] })).status).toBe(201);
});
