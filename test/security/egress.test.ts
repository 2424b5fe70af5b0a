/**
 * What a tenant names is reached through the guarded way out and no other: the whole service, asked for addresses
 * inside, with a server there that must see no connection. How addresses are told apart: test/platform/egress.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { present } from '../../src/platform/core/present.ts';
import { integrations } from '../../src/resources/integrations/catalogue.ts';
import { INSIDE } from '../support/security/inside-addresses.ts';
import { eventsOf, tool, type EventRow } from '../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { tried } from '../support/runner/sizes.ts';
import { portOf } from '../support/processes/listening.ts';

let inside: Server;
let partner: Server;
let port: number;
let touched = 0;
let service: TestService;
let tenant: Tenant;

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return portOf(server);
}

beforeAll(async () => {
  inside = createServer((_, response) => response.end('what is inside'));
  inside.on('connection', () => (touched += 1));
  port = await listening(inside);
  partner = createServer((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    else response.end('the partner answers');
  });
  service = await startTestService({ env: { EGRESS_ALLOWLIST: `127.0.0.1:${await listening(partner)}` } });
  tenant = await service.tenant('acc_acme');
});
beforeEach(() => {
  touched = 0;
});
afterAll(async () => {
  await service.close();
  for (const server of [inside, partner]) server.closeAllConnections();
  for (const server of [inside, partner]) await new Promise((closed) => server.close(closed));
});

const addressOf = (server: Server) => `127.0.0.1:${portOf(server)}`;
const fetchedBy = async (args: object): Promise<string> => {
  const { output } = await tenant.run({
    agent: 'researcher',
    prompt: `Read it. [[tool:http_request ${JSON.stringify(args)}]]`,
  });
  return present(output);
};

/** A run may call so many tools in one turn that a spelling each costs little. */
const AT_ONCE = 10;
const inPortions = (hosts: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(hosts.length / AT_ONCE) }, (_, i) => hosts.slice(i * AT_ONCE, (i + 1) * AT_ONCE));

/** What the calls of a run were answered, one for each address. */
async function callsTo(hosts: readonly string[], callOf: (url: string) => string, agent: string): Promise<EventRow[]> {
  const calls = hosts.map((host) => callOf(`http://${host}:${port}/`));
  const { run_id } = await tenant.run({ agent, prompt: `Read them. ${calls.join(' ')}` });
  return (await eventsOf(tenant, run_id)).filter(({ event_type }) => event_type === 'tool_result');
}

function expectRefusals(answers: readonly EventRow[], hosts: readonly string[]): void {
  expect(answers).toHaveLength(hosts.length);
  for (const { status, payload } of answers) {
    expect({ status, said: payload['result_preview'] }).toEqual({
      status: 'failed',
      said: expect.stringContaining('this address is not allowed'),
    });
  }
  expect(touched).toBe(0);
  tried('addresses inside refused', hosts.length);
}

// Guards: an agent reads no internal address, in any spelling, and is told why.
test.each(inPortions(INSIDE).map((hosts) => [hosts.join(' '), hosts] as const))(
  'http_request does not reach %s',
  async (_, hosts) => {
    const read = (url: string) => tool('http_request', { url });
    expectRefusals(await callsTo(hosts, read, 'researcher'), hosts);
    const write = (url: string) => tool('http_request', { url, method: 'POST', body: 'a' });
    expectRefusals(await callsTo(hosts, write, 'researcher'), hosts);
  },
);

// Guards: a workspace's own tool reaches internal addresses no more than a built-in one; an address that is obviously
// internal is refused when it is saved.
test('a webhook tool does not reach any of them', async () => {
  const slugs: string[] = [];
  for (const [n, host] of INSIDE.entries()) {
    const body = { url: `https://${host}:${port}/`, method: 'GET' };
    const made = await tenant.cp('POST', '/v1/tools', {
      slug: `inside-${n}`,
      description: 'Looks inside',
      kind: 'webhook',
      body,
      schema: { type: 'object', properties: {} },
    });
    if (made.status === 201) slugs.push(`inside-${n}`);
    else expect(made).toMatchObject({ status: 400, body: { detail: expect.stringContaining('body.url') } });
  }
  tried('addresses inside refused', INSIDE.length - slugs.length);
  for (const portion of inPortions(slugs)) {
    const agent = { slug: 'insider', model: 'offline', prompt: 'You look.', allowed_tool_slugs: portion };
    const { status } = await tenant.cp('POST', '/v1/agents', agent);
    expect(status).toBe(201);
    const { run_id } = await tenant.run({ agent: 'insider', prompt: portion.map((slug) => tool(slug, {})).join(' ') });
    const events = await eventsOf(tenant, run_id);
    expectRefusals(
      events.filter(({ event_type }) => event_type === 'tool_result'),
      portion,
    );
    await tenant.cp('DELETE', '/v1/agents/insider?force=true');
  }
  expect(touched).toBe(0);
});
test('an agent does not reach what a redirect leads to', async () => {
  expect(await fetchedBy({ url: `http://${addressOf(partner)}/moved` })).toContain('this address is not allowed');
  expect(await fetchedBy({ url: `http://${addressOf(partner)}/moved`, method: 'POST' })).not.toContain('inside');
  expect(touched).toBe(0);
});

// Guards: no webhook is sent to an internal address, and an obvious one is refused when it is registered.
test.each(INSIDE)('a webhook does not go to %s', async (host) => {
  for (const scheme of ['https', 'http']) {
    const answer = await tenant.api('POST', '/v1/webhooks', { url: `${scheme}://${host}:${port}/` });
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^url: /) } });
    tried('addresses inside refused');
  }
  expect((await tenant.api('GET', '/v1/webhooks')).body.data).toEqual([]);
  expect(touched).toBe(0);
});

// Guards: no kind of output destination sends a project's results to an internal address.
test.each(INSIDE)('no output goes to %s', async (host) => {
  const url = `https://${host}:${port}/`;
  const storage = { region: 'eu-central-1', bucket: 'outputs', access_key_id: 'a', secret_access_key: 'b' };
  for (const [kind, config] of [
    ['webhook', { url }],
    ['slack', { webhook_url: url }],
    ['s3', { ...storage, endpoint: url }],
  ] as const) {
    const answer = await tenant.cp('POST', '/v1/output-destinations', { name: `To ${kind}`, kind, config });
    expect({ kind, status: answer.status }).toEqual({ kind, status: 400 });
    tried('addresses inside refused');
  }
  expect((await tenant.cp('GET', '/v1/output-destinations')).body.data).toEqual([]);
  expect(touched).toBe(0);
});

// Guards: models, integrations and MCP servers of a workspace are called at no internal address.
const ADDRESSES = [...integrations.values()].flatMap(({ slug, slots }) =>
  slots.flatMap(({ key, format }) => (format === 'address' ? [`${slug}/secrets/${key}`] : [])),
);
test.each(ADDRESSES)('%s is no address inside', async (slot) => {
  expect(ADDRESSES.some((each) => each.includes('mcp'))).toBe(true);
  for (const host of INSIDE) {
    const answer = await tenant.cp('PUT', `/v1/integrations/${slot}`, { value: `https://${host}:${port}/` });
    expect({ host, status: answer.status, detail: answer.body.detail }).toEqual({
      host,
      status: 400,
      detail: expect.stringMatching(/^value: /),
    });
    tried('addresses inside refused');
  }
  expect(touched).toBe(0);
});

// Guards: the tests above can fail: requests to the outside work, and the internal server counts its requests.
test('what is allowed is reached', async () => {
  expect(await fetchedBy({ url: `http://${addressOf(partner)}/` })).toContain('the partner answers');
  await (await fetch(`http://127.0.0.1:${port}/`)).text();
  expect(touched).toBe(1);
});
