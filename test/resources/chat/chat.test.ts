import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pdfOfPages, textOf } from '../../support/documents/pdf.ts';
import { createHmac } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { itemAt } from '../../../src/platform/core/present.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const TURN = { TURN_SECRET: 'turn-secret-of-the-tests', TURN_URLS: 'turn:a.example.com:3478,turns:a.example.com:5349' };

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startTestService({ env: { ...TURN, TURN_TTL: '10m' } });
});
beforeEach(async () => {
  tenant = await service.tenant(`acc_chat${++tenants}`);
});
let tenants = 0;
afterAll(() => service?.close());

const begin = async (body: object = { agent: 'assistant' }): Promise<string> =>
  (await tenant.cp('POST', '/v1/chat/threads', body)).body.id;
const say = (id: string, content: string, more: object = {}) =>
  tenant.cp('POST', `/v1/chat/threads/${id}/messages`, { content, ...more });
const messagesOf = async (id: string, query = '') =>
  (await tenant.cp('GET', `/v1/chat/threads/${id}/messages${query}`)).body;
const fileOf = (name: string, text: string) => {
  const form = new FormData();
  form.append('files', new Blob([text]), name);
  return form;
};
const attach = async (id: string, name: string, text: string): Promise<string> =>
  (await tenant.cp('POST', `/v1/chat/threads/${id}/attachments`, fileOf(name, text))).body.data[0].id;

describe('a thread', () => {
  // Guards: the shapes of the answers, and the order of the list.
  test('is made, listed, changed and deleted', async () => {
    const made = await tenant.cp('POST', '/v1/chat/threads', { title: 'Bread', agent: 'writer' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        title: 'Bread',
        agent: 'writer',
        created_by: tenant.caller.actor,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    const path = `/v1/chat/threads/${made.body.id}`;
    expect((await tenant.cp('GET', path)).body).toEqual(made.body);
    const other = await begin({});
    const listed = async () =>
      (await tenant.cp('GET', '/v1/chat/threads')).body.data.map(({ id }: { id: string }) => id) as string[];
    expect(await listed()).toEqual([other, made.body.id]);
    await say(made.body.id, 'Hello');
    expect(await listed()).toEqual([made.body.id, other]);
    expect((await tenant.cp('GET', `/v1/chat/threads?limit=1&offset=1`)).body).toMatchObject({
      data: [{ id: other }],
      meta: { limit: 1, offset: 1, total: 2 },
    });
    const changed = await tenant.cp('PATCH', path, { title: 'Cake', agent: null });
    expect([changed.status, changed.body]).toMatchObject([200, { title: 'Cake', agent: null }]);
    expect((await tenant.cp('PATCH', path, {})).status).toBe(400);
    expect((await tenant.cp('DELETE', path)).status).toBe(204);
    expect((await tenant.cp('DELETE', path)).status).toBe(404);
    expect((await tenant.cp('GET', `${path}/messages`)).status).toBe(404);
  });

  // Guards: a mistake has the promised status, and an id of the wrong form is unknown.
  test('is refused with bad input', async () => {
    for (const body of [{ title: '' }, { title: 'x'.repeat(201) }, { title: 'nul \u0000' }, { agent: 7 }]) {
      expect((await tenant.cp('POST', '/v1/chat/threads', body)).status).toBe(422);
    }
    expect((await tenant.cp('POST', '/v1/chat/threads', { agent: 'nobody' })).status).toBe(404);
    const id = await begin();
    for (const body of [{}, { content: ' ' }, { content: 'x', attachment_ids: ['1'] }, { content: 'half \ud800' }]) {
      expect((await tenant.cp('POST', `/v1/chat/threads/${id}/messages`, body)).status).toBe(422);
    }
    expect((await say(id, 'Hello', { agent: 'nobody' })).status).toBe(404);
    expect((await say('1', 'Hello')).status).toBe(404);
    expect((await messagesOf(id)).meta.total).toBe(0);
  });
});

describe('a message', () => {
  // Guards: a message is a run on its thread, answered in order, that sees the messages before it; the first message
  // names the thread.
  test('is answered', async () => {
    const id = await begin();
    const first = await say(id, '  What is\nbread? ');
    expect([first.status, first.body]).toEqual([
      201,
      { message_id: `${first.body.run_id}:user`, run_id: expect.any(String), status: 'queued' },
    ]);
    // In whatever spelling its id comes.
    const second = await say(id.toUpperCase(), 'And cake?', { agent: 'writer' });
    const answers = [await tenant.waitForRun(first.body.run_id), await tenant.waitForRun(second.body.run_id)];
    const { data, meta } = await messagesOf(id);
    expect(meta).toEqual({ limit: 50, offset: 0, total: 4 });
    const line = ({ role, content, agent, status }: Record<string, unknown>) => [role, content, agent, status];
    expect(data.map(line)).toEqual([
      ['user', '  What is\nbread? ', 'assistant', 'succeeded'],
      ['assistant', itemAt(answers, 0).output, 'assistant', 'succeeded'],
      ['user', 'And cake?', 'writer', 'succeeded'],
      ['assistant', itemAt(answers, 1).output, 'writer', 'succeeded'],
    ]);
    const latest = await messagesOf(id, '?order=desc&limit=1');
    expect(latest.data).toEqual([data[3]]);
    expect((await tenant.cp('GET', `/v1/chat/threads/${id}`)).body.title).toBe('What is bread?');
    const context = await tenant.cp('GET', `/v1/runs/${second.body.run_id}/context/content`);
    expect(context.body.content).toContain('What is\nbread?');
  });

  // Guards: a message counts against the plan's cap of runs, and a refused one leaves nothing.
  test('counts as a run', async () => {
    tenant = await service.tenant(`acc_capped${tenants}`, 'free');
    const id = await begin();
    await service.runtime.db.rows(sql`
      insert into usage_counters (customer_id, resource, day, used)
      values (${tenant.caller.customerId}, 'runs_per_day', to_char(now() at time zone 'utc', 'YYYY-MM-DD'), 99)`);
    const answers = await Promise.all([say(id, 'One'), say(id, 'Two'), say(id, 'Three')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    expect((await messagesOf(id)).meta.total).toBe(2);
  });

  // Guards: deleting a thread cancels its runs that are in flight; the runs stay in the list of runs.
  test('ends with its thread', async () => {
    const id = await begin();
    const { body } = await say(id, '[[sleep:60000]]');
    const { body: next } = await say(id, 'Hello');
    await eventually(async () => {
      expect((await tenant.api('GET', `/v1/runs/${body.run_id}`)).body.status).toBe('running');
    });
    expect((await tenant.cp('DELETE', `/v1/chat/threads/${id}`)).status).toBe(204);
    for (const { run_id } of [body, next]) {
      expect((await tenant.api('GET', `/v1/runs/${run_id}`)).body.status).toBe('cancelled');
    }
  });
});

describe('files of a thread', () => {
  const READ = '[[tool:read_attachment {"filename":"facts.txt"}]]';

  // Guards: the runs of a thread read its attachments, and no other conversation does.
  test('are read by its runs', async () => {
    const [id, other] = [await begin(), await begin()];
    const file = await attach(id, 'facts.txt', 'The sky is green on Tuesdays.');
    await attach(other, 'facts.txt', 'The sky is red on Mondays.');
    const listed = await tenant.cp('GET', `/v1/chat/threads/${id}/attachments`);
    expect(listed.body).toMatchObject({ data: [{ id: file, filename: 'facts.txt' }], meta: { total: 1 } });
    const { body } = await say(id, READ, { attachment_ids: [file] });
    expect((await tenant.waitForRun(body.run_id)).output).toContain('The sky is green on Tuesdays.');
    const { data } = await messagesOf(id);
    expect(data[0].content).toBe(`${READ}\n\n[attached: facts.txt, text of 29 characters, id ${file}]`);

    const foreign = `[[tool:read_attachment {"id":"${file}"}]]`;
    const { body: refused } = await say(other, foreign);
    expect((await tenant.waitForRun(refused.run_id)).output).not.toContain('green');
    const outside = await tenant.run({ agent: 'assistant', prompt: foreign });
    expect(outside.output ?? '').not.toContain('green');
  });

  // Guards: a document is told for what it is where it is uploaded and in the message, and is read by the page.
  test('are documents, which are read by the page', async () => {
    const id = await begin();
    const pages = ['The kite flies on Monday.', 'The kite flies on Tuesday.', 'The kite flies on Friday.'];
    const data = new FormData();
    data.append('files', new Blob([new Uint8Array(pdfOfPages(pages.map((page) => textOf([page]))))]), 'report.pdf');
    data.append('files', new Blob([new Uint8Array(pdfOfPages(['']))]), 'scan.pdf');
    const { body: uploaded } = await tenant.cp('POST', `/v1/chat/threads/${id}/attachments`, data);
    expect(uploaded.data).toMatchObject([
      {
        content_type: 'application/pdf',
        reading: { readable: true, unit: 'page', count: 3, summary: '3 pages of text' },
      },
      { content_type: 'application/pdf', reading: { readable: false, problem: 'no_text' } },
    ]);
    const ids = uploaded.data.map((file: { id: string }) => file.id);
    const reads = (args: object) => `[[tool:read_attachment ${JSON.stringify(args)}]]`;
    const prompt = `${reads({ filename: 'report.pdf', pages: '2' })} ${reads({ filename: 'scan.pdf' })}`;
    const { body } = await say(id, prompt, { attachment_ids: ids });
    const { output } = await tenant.waitForRun(body.run_id);
    expect(output).toContain('The kite flies on Tuesday.');
    expect(output).not.toMatch(/Monday|Friday/);
    expect(output).toContain('its page has no text, as of a scan');
    expect((await messagesOf(id)).data[0].content).toContain(`[attached: report.pdf, 3 pages of text, id ${ids[0]}]`);
  });

  // Guards: a message can only name files of its own thread.
  test('of another thread are unknown', async () => {
    const [id, other] = [await begin(), await begin()];
    const file = await attach(other, 'facts.txt', 'Other.');
    expect((await say(id, 'Hello', { attachment_ids: [file] })).status).toBe(404);
    expect((await messagesOf(id)).meta.total).toBe(0);
  });

  // Guards: their bytes are downloaded like any file's, and go with the thread.
  test('are downloaded, and deleted with it', async () => {
    const id = await begin();
    const file = await attach(id, 'facts.txt', 'The sky is green on Tuesdays.');
    const download = () => tenant.cp('GET', `/v1/files/download?id=${file}`);
    expect((await download()).body).toBe('The sky is green on Tuesdays.');
    await tenant.cp('DELETE', `/v1/chat/threads/${id}`);
    expect((await download()).status).toBe(404);
    expect((await tenant.cp('POST', `/v1/chat/threads/${id}/attachments`, fileOf('more.txt', 'More'))).status).toBe(
      404,
    );
  });
});

describe('a call', () => {
  // Guards: a TURN server with the secret computes the same credential, which is valid until the time in its user name.
  test('gets credentials for a limited time', async () => {
    const { status, body } = await tenant.cp('GET', '/v1/chat/call/turn');
    expect([status, body.ttl, body.uris]).toEqual([200, 600, TURN.TURN_URLS.split(',')]);
    const [expiry, ...user] = body.username.split(':');
    expect(user.join(':')).toBe(tenant.caller.actor);
    expect(Math.abs(Number(expiry) - Date.now() / 1_000 - 600)).toBeLessThan(10);
    const expected = createHmac('sha1', TURN.TURN_SECRET).update(body.username).digest('base64');
    expect(body.credential).toBe(expected);
  });

  // Guards: without TURN servers there is no such endpoint.
  test('has no credentials without TURN servers', async () => {
    const other = await startTestService({ worker: false });
    try {
      const someone = await other.tenant('acc_chat');
      expect((await someone.cp('GET', '/v1/chat/call/turn')).status).toBe(404);
    } finally {
      await other.close();
    }
  });
});
