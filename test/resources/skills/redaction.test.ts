/** Skills of a deployment that everybody may look at: their bodies are for admins alone. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const BODY = 'Nobody is to read this.';
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  service = await startTestService({ worker: false, env: { PUBLIC_VISIBILITY: 'true' } });
  acme = await service.tenant('acc_acme');
});
afterAll(() => service?.close());

const asMember = (method: string, path: string, body?: unknown) =>
  call(
    `${service.baseUrl}/api/v1/cp${path}`,
    method,
    { cookie: `service_session=${sessionFor(acme.caller, 'member')}` },
    body,
  );

// Guards: no answer has a body for a session without the admin stamp, not even for its author; admins see it.
test('blanks bodies for all but admins', async () => {
  const skill = { slug: 'secret', name: 'Secret', prompt_addendum: BODY };
  const blank = { body: '', redacted: true, body_length: BODY.length, title: 'Secret' };
  expect(await asMember('POST', '/v1/skills', skill)).toMatchObject({ status: 201, body: blank });
  expect((await asMember('GET', '/v1/skills/secret')).body).toMatchObject(blank);
  expect((await asMember('PATCH', '/v1/skills/secret', { description: 'Hidden' })).body).toMatchObject(blank);
  expect((await asMember('GET', '/v1/skills/planning')).body).toMatchObject({ body: '', redacted: true });

  // A skill is a node of the memory too.
  const { data } = (await asMember('GET', '/v1/memory/entries')).body;
  expect(data).toEqual([expect.objectContaining({ slug: 'secret', preview: '' })]);
  expect((await asMember('GET', `/v1/memory/entries/${data[0].id}`)).body).toMatchObject({ content: '' });
  expect((await acme.cp('GET', `/v1/memory/entries/${data[0].id}`)).body).toMatchObject({ content: BODY });

  const { body } = await acme.cp('GET', '/v1/skills/secret');
  expect(body).toMatchObject({ body: BODY });
  expect(body).not.toHaveProperty('redacted');
  expect((await acme.cp('GET', '/v1/skills/planning')).body.body).toMatch(/^# Goal/);
});
