/** Custom tools where they are used: in runs and in steps of projects, with what the workflow makes of their failures. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { present } from '../../../src/platform/core/present.ts';
import { readHistories } from '../../support/temporal/histories.ts';
import { agentStep, makeTemplate, phaseSpec, startProject, untilProject } from '../../support/fixtures/projects.ts';
import { dispatch, eventsOf, tool as callOf, untilStatus } from '../../support/fixtures/runs.ts';
import {
  eventually,
  startTestService,
  type FinishedRun,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { portOf } from '../../support/processes/listening.ts';

let service: TestService;
let tenant: Tenant;
let receiver: Server;
let url: string;
let answer: (response: ServerResponse) => unknown;
const seen: { method: string | undefined; authorization: string | undefined; body: string }[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const { method, headers } = request;
    seen.push({ method, authorization: headers.authorization, body: await text(request) });
    answer(response);
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${portOf(receiver)}`;
  url = `http://${host}/hook`;
  service = await startTestService({ env: { EGRESS_ALLOWLIST: host } });
  tenant = await service.tenant('acc_acme');
  await tenant.cp('POST', '/v1/agents', {
    slug: 'caller',
    model: 'offline',
    prompt: 'You call tools.',
    allowed_tool_slugs: ['greet', 'hook', 'reader', 'mine', 'calculator'],
  });
});
beforeEach(() => {
  seen.splice(0);
  answer = (response) => response.end('taken');
});
afterAll(async () => {
  await service?.close();
  receiver.closeAllConnections();
  await new Promise((closed) => receiver.close(closed));
});

const PARAMETERS = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const make = async (slug: string, kind: string, body: object, more: object = {}, by = tenant) => {
  await by.cp('DELETE', `/v1/tools/${slug}?force=true`);
  const tool = { slug, description: `Does ${slug}.`, kind, schema: PARAMETERS, body, ...more };
  expect(await by.cp('POST', '/v1/tools', tool)).toMatchObject({ status: 201 });
};
const run = (slug: string, args: object = { name: 'Ada' }, by = tenant) =>
  by.run({ agent: 'caller', prompt: `Do it. ${callOf(slug, args)}` });
/** The offline model calls no tool that it is not offered. */
const NOT_OFFERED = undefined;
const resultOf = async (slug: string, args?: object, by = tenant) => {
  const { run_id, status, error } = await run(slug, args, by);
  expect({ status, error }).toEqual({ status: 'succeeded', error: null });
  const [row] = await service.runtime.db.rows<{ status: string; result: unknown }>(
    sql`select status, result from run_tool_calls where run_id = ${run_id}`,
  );
  return row;
};

// Guards: a tool is available to agents once it is made, follows each change, and is gone once it is deleted.
test('is there at once, and gone at once', async () => {
  expect(await resultOf('greet')).toBe(NOT_OFFERED);
  await make('greet', 'stub', { result: { hello: 1 } });
  expect(await resultOf('greet')).toEqual({ status: 'succeeded', result: { hello: 1 } });
  await tenant.cp('PATCH', '/v1/tools/greet', { body: { result: null } });
  expect(await resultOf('greet')).toEqual({ status: 'succeeded', result: null });
  await tenant.cp('PATCH', '/v1/tools/greet', { access: 'human' });
  expect(await resultOf('greet')).toBe(NOT_OFFERED);
  await tenant.cp('PATCH', '/v1/tools/greet', { access: 'agent' });
  expect(await resultOf('greet')).toMatchObject({ status: 'succeeded' });
  await tenant.cp('DELETE', '/v1/tools/greet?force=true');
  expect(await resultOf('greet')).toBe(NOT_OFFERED);
});

// Guards: arguments that do not fit the schema are answered to the model, and nothing is sent.
test('checks the arguments first', async () => {
  await make('hook', 'webhook', { url });
  expect(await resultOf('hook', { name: 7 })).toEqual({
    status: 'failed',
    result: { error: expect.stringMatching(/^bad arguments for hook: .*must be string/) },
  });
  expect(seen).toEqual([]);
});

// Guards: another workspace's tool does not exist, even for an agent that is allowed its slug.
test('is its workspace’s alone', async () => {
  await make('mine', 'stub', { result: 'of acme' });
  const other = await service.tenant('acc_other');
  await other.cp('POST', '/v1/agents', {
    slug: 'caller',
    model: 'offline',
    prompt: 'You call tools.',
    allowed_tool_slugs: ['mine'],
  });
  expect(await resultOf('mine', undefined, other)).toBe(NOT_OFFERED);
  await make('mine', 'stub', { result: 'of other' }, {}, other);
  expect(await resultOf('mine', undefined, other)).toMatchObject({ result: 'of other' });
  expect(await resultOf('mine')).toMatchObject({ result: 'of acme' });
});

// Guards: a failing receiver is asked again where that is harmless, and never where it is not.
test('repeats what may be repeated', async () => {
  await make('reader', 'webhook', { url, method: 'GET' });
  answer = (response) => (seen.length < 3 ? response.writeHead(503).end('busy') : response.end('well'));
  expect(await resultOf('reader')).toEqual({ status: 'succeeded', result: { status: 200, body: 'well' } });
  expect(seen).toHaveLength(3);

  seen.splice(0);
  answer = (response) => response.writeHead(503).end('busy');
  expect(await resultOf('reader')).toMatchObject({ result: { error: expect.stringContaining('answered 503') } });
  expect(seen).toHaveLength(3);

  seen.splice(0);
  await make('hook', 'webhook', { url });
  expect(await resultOf('hook')).toMatchObject({ result: { error: expect.stringMatching(/answered 503: busy$/) } });
  expect(seen).toHaveLength(1);

  seen.splice(0);
  answer = (response) => present(response.socket).destroy();
  expect(await resultOf('hook')).toMatchObject({ result: { error: expect.stringContaining('outcome') } });
  expect(seen).toHaveLength(1);
});

// Guards: a tool's requests go through the guard.
test('reaches nothing inside', async () => {
  let touched = 0;
  const inside = createServer((_, response) => response.end('inside')).on('connection', () => (touched += 1));
  await once(inside.listen(0, '127.0.0.1'), 'listening');
  const port = portOf(inside);
  answer = (response) => response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
  for (const address of [`http://127.0.0.1:${port}/`, `http://[::ffff:7f00:1]:${port}/{name}`, url]) {
    await make('hook', 'webhook', { url: address });
    expect(await resultOf('hook')).toMatchObject({
      status: 'failed',
      result: { error: expect.stringMatching(/^this address is not allowed: /) },
    });
  }
  expect(touched).toBe(0);
  await new Promise((closed) => inside.close(closed));
});

// Guards: a cancelled run does not wait for a receiver that does not answer.
test('stops with its run', async () => {
  await make('hook', 'webhook', { url, timeout_s: 300 });
  answer = () => {};
  const runId = await dispatch(tenant, { agent: 'caller', prompt: `Do it. ${callOf('hook', { name: 'Ada' })}` });
  await eventually(() => expect(seen).toHaveLength(1));
  await tenant.cp('POST', `/v1/runs/${runId}/cancel`);
  await untilStatus(tenant, runId, 'cancelled');
});

// Guards: operators and members read neither a tool's secret nor what was sent or answered.
test('leaves no secret in a history or a timeline', async () => {
  const headers = { Authorization: 'Bearer canary-of-header-0123', 'X-Name': '{name}' };
  await make('hook', 'webhook', { url: `${url}?k=canary-of-url`, headers }, { effect: 'idempotent' });
  const runs: FinishedRun[] = [];
  for (const reply of [
    (response: ServerResponse) => response.end('canary-of-header-0123'),
    (response: ServerResponse) => response.writeHead(400).end('Bearer canary-of-header-0123'),
    (response: ServerResponse) => response.writeHead(500).end('canary-of-answer'),
    (response: ServerResponse) => present(response.socket).destroy(),
  ]) {
    answer = reply;
    runs.push(await run('hook', { name: 'canary-of-arguments' }));
  }
  expect(seen[0]).toMatchObject({ method: 'POST', authorization: 'Bearer canary-of-header-0123' });
  const shown = JSON.stringify([
    await Promise.all(runs.map(({ run_id }) => eventsOf(tenant, run_id))),
    (await tenant.cp('GET', '/v1/tools/hook')).body,
    runs.map(({ output }) => output),
  ]);
  expect(shown).not.toMatch(/canary-of-header/);
  await eventually(async () => {
    const histories = await readHistories(service.runtime.temporal, service.runtime.config.TASK_QUEUE_PREFIX);
    for (const { run_id } of runs) {
      expect(histories.get(`run-${run_id}`)).toContain('callTool');
      expect(histories.get(`run-${run_id}`)).not.toContain('canary');
    }
  });
});

// Guards: a step can be bound to a custom tool that agents may use, and to no other, and its run calls it.
test('serves the steps of projects', async () => {
  await make('hook', 'webhook', { url });
  const steps = (tools: string[]) => [
    agentStep('call', { assignee: 'caller', tools, instructions: `Do it. ${callOf('hook', { name: 'Ada' })}` }),
  ];
  await makeTemplate(tenant, 'calling', [phaseSpec('main', steps(['hook']))]);
  const projectId = await startProject(tenant, 'calling');
  await untilProject(tenant, projectId, 'completed');
  expect(seen).toMatchObject([{ method: 'POST', body: '{"name":"Ada"}' }]);

  await tenant.cp('PATCH', '/v1/tools/hook', { access: 'human' });
  await expect(makeTemplate(tenant, 'not-calling', [phaseSpec('main', steps(['hook']))])).rejects.toThrow(
    String.raw`no tool \"hook\"`,
  );
});
