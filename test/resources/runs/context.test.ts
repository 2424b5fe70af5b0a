import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, last } from '../../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, eventsOf, listTotal, rowOf, tool, untilStatus } from '../../support/fixtures/runs.ts';

let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  service = await startTestService({ env: { RUN_DETAIL_TTL: '1h' } });
  acme = await service.tenant('acc_acme');
});
afterAll(() => service?.close());

async function pages(runId: string) {
  const found: { content: string; before_byte: number; next_before_byte: number | null; total_bytes: number }[] = [];
  for (let before: number | null | undefined; before !== null; before = last(found).next_before_byte) {
    const query = before === undefined ? '' : `?before_byte=${before}`;
    const { status, body } = await acme.cp('GET', `/v1/runs/${runId}/context/content${query}`);
    expect(status).toBe(200);
    found.push(body);
  }
  return found;
}

// Guards: paging backwards loses and repeats no byte, even where a page would end inside a character.
test('pages of the context put together are the whole text', async () => {
  // One, two, three and four bytes each, so that page ends fall everywhere in a character.
  const text = 'aé€😀'.repeat(17_000);
  const { run_id } = await acme.run({ agent: 'writer', prompt: `${text}THE END` });
  const found = await pages(run_id);
  expect(found.length).toBeGreaterThan(2);
  const whole = found
    .map(({ content }) => content)
    .reverse()
    .join('');
  expect(whole).toContain(`${text}THE END`);
  expect(whole).not.toContain('\uFFFD');
  expect(Buffer.byteLength(whole)).toBe(first(found).total_bytes);
  let end = first(found).total_bytes;
  for (const { content, before_byte, next_before_byte, total_bytes } of found) {
    expect(total_bytes).toBe(first(found).total_bytes);
    expect(before_byte).toBe(end);
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(64 * 1024 + 3);
    end -= Buffer.byteLength(content);
    expect(next_before_byte).toBe(end === 0 ? null : end);
  }

  const page = async (before: number) =>
    (await acme.cp('GET', `/v1/runs/${run_id}/context/content?before_byte=${before}`)).body;
  expect(await page(0)).toMatchObject({ content: '', before_byte: 0, next_before_byte: null });
  expect(await page(10 ** 12)).toEqual(found[0]);
  const bytes = Buffer.from(whole);
  for (const before of [1, 70_000, 70_001, 70_002, 70_003]) {
    const { content, before_byte, next_before_byte } = await page(before);
    expect(before - before_byte).toBeLessThan(4);
    expect(bytes.subarray(next_before_byte ?? 0, before_byte).toString()).toBe(content);
  }
});

// Guards: the breakdown names every category once, adds up, and agrees with what the model was sent.
test('the breakdown of the context adds up', async () => {
  const run = await acme.run({ agent: 'assistant', prompt: `Count ${tool('calculator', { expression: '12*12' })}` });
  const { body } = await acme.cp('GET', `/v1/runs/${run.run_id}/context`);
  expect(body).toMatchObject({ run_id: run.run_id, model: 'offline', context_window: 128_000 });
  const { categories } = body as { categories: { category: string; tokens: number; bytes: number }[] };
  expect(categories.map(({ category }) => category)).toEqual([
    ...['system_prompt', 'tools', 'skills', 'memory', 'messages', 'tool_results'],
  ]);
  expect(body.total_tokens).toBe(categories.reduce((sum, { tokens }) => sum + tokens, 0));
  const empty = categories.filter(({ bytes }) => bytes === 0).map(({ category }) => category);
  expect(empty).toEqual(['memory']);
  for (const { tokens, bytes } of categories) expect(tokens).toBeLessThanOrEqual(bytes);
  const { body: agents } = await acme.cp('GET', '/v1/agents');
  const assistant = agents.data.find(({ slug }: { slug: string }) => slug === 'assistant');
  expect(first(categories).bytes).toBeGreaterThanOrEqual(assistant.prompt_length);
  expect(first(await pages(run.run_id)).content).toMatch(/12\*12[^]*144/);
});

// Guards: the registry drops a run that has ended, by every way; the archive keeps it, and a run in flight stays.
test('detail ages out, list and events stay', async () => {
  const endedAgo = (runId: string, interval: string) =>
    service.runtime.db.rows(sql`update runs set completed_at = now() - ${interval}::interval where id = ${runId}`);
  const { run_id } = await acme.run({ agent: 'assistant', prompt: 'Remember me' });
  const detail = () => acme.cp('GET', `/v1/runs/${run_id}/detail`);
  await endedAgo(run_id, '59 minutes');
  expect((await detail()).status).toBe(200);
  await endedAgo(run_id, '61 minutes');
  const gone = { status: 404, body: { detail: 'not_found' } };
  expect(await detail()).toMatchObject(gone);
  expect(await acme.api('GET', `/v1/runs/${run_id}`)).toMatchObject(gone);
  const total = await listTotal(acme);
  expect(await acme.cp('POST', `/v1/runs/${run_id}/retry`)).toMatchObject(gone);
  expect(await acme.cp('POST', `/v1/runs/${run_id}/cancel`)).toMatchObject(gone);
  expect(await listTotal(acme)).toBe(total);
  expect(await rowOf(acme, run_id)).toMatchObject({ last_status: 'succeeded', last_event_type: 'run_completed' });
  expect((await eventsOf(acme, run_id)).at(-1)).toMatchObject({ event_type: 'run_completed' });

  const slow = await dispatch(acme, { agent: 'assistant', prompt: '[[sleep:60000]]' });
  await untilStatus(acme, slow, 'running');
  await service.runtime.db.rows(sql`
    update runs set created_at = now() - interval '2 hours', started_at = now() - interval '2 hours' where id = ${slow}`);
  expect((await acme.cp('GET', `/v1/runs/${slow}/detail`)).body.status).toBe('running');
  await acme.cp('POST', `/v1/runs/${slow}/cancel`);
});

// Guards: the limit takes the oldest rows of the timeline, and the answer repeats the limit.
test('events come oldest first up to the limit', async () => {
  const { run_id } = await acme.run({ agent: 'writer', prompt: 'Hello' });
  const { body } = await acme.cp('GET', `/v1/runs/${run_id}/events?limit=2`);
  expect(body.meta).toEqual({ limit: 2, run_id });
  expect(body.data.map((row: { event_type: string }) => row.event_type)).toEqual(['run_received', 'run_started']);
  expect((await acme.cp('GET', `/v1/runs/${run_id}/events`)).body.meta).toEqual({ limit: 200, run_id });
});
