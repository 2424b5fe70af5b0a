/** What the console says and asks of models: effort, the schema of an answer, answers that are none yet, another model. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../src/platform/core/present.ts';
import { answer, cutOff, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { describeConsole } from '../support/console/stage.ts';
import { dispatch } from '../support/fixtures/runs.ts';
import { eventually, startTestService } from '../support/service/service.ts';

const RIVER = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

let provider: OpenAiServer | undefined;
const start = async () => {
  provider = await startOpenAiServer();
  return startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
};

await describeConsole('what models are asked', { start }, (stage) => {
  const { show } = stage;
  beforeAll(async () => {
    await stage.acme.cp('POST', '/v1/agents', {
      slug: 'shopper',
      model: 'scripted',
      prompt: 'You shop.',
      allowed_tool_slugs: ['calculator', 'mcp.shop.gone'],
    });
  });
  beforeEach(() => provider?.reset());
  afterAll(() => provider?.close());

  // Guards: effort and the schema of the answer reach the model from the form, and a schema that is none is told there.
  test('a run is asked for with an effort and the schema of its answer', async () => {
    present(provider).script(answer('{"name":"Elbe"}'));
    const { tab, open, complaints } = await show();
    await open('/runs/new?agent=shopper');
    await tab.getByLabel('Prompt').fill('A river.');
    await tab.getByText('Model, answer and budget').click();
    await tab.getByLabel('Effort').selectOption('high');
    await tab.getByLabel('Schema of the answer').fill('{"type":');
    await tab.getByText('This is no JSON object.').waitFor();
    expect(await tab.getByRole('button', { name: 'Start the run' }).isEnabled()).toBe(false);
    await tab.getByLabel('Schema of the answer').fill(JSON.stringify(RIVER));
    await tab.getByText(/"effort":"high".*"output_schema":\{"type":"object"/).waitFor();
    await tab.getByRole('button', { name: 'Start the run' }).click();
    await tab.getByRole('region', { name: 'Answer' }).getByText('Elbe').waitFor();
    const { body } = present(present(provider).requests[0]);
    expect(body).toMatchObject({ reasoning_effort: 'high', response_format: { json_schema: { schema: RIVER } } });
    const facts = tab.getByRole('complementary', { name: 'Facts' });
    expect(await facts.innerText()).toMatch(/Effort\s+high[^]*Tools withheld\s+mcp\.shop\.gone/);
    expect(complaints).toEqual([]);
  });

  // Guards: who reads a timeline sees which answers were sent back or cut off, and which model was asked instead of which.
  test('answers that are none yet, and another model, are seen in the timeline', async () => {
    present(provider).script(answer('{"river":"Elbe"}'), answer('{"name":"Elbe"}'), cutOff('The El'), answer('be.'));
    present(provider).otherwise(answer('As you wish.'));
    const repaired = await stage.acme.run({ agent: 'shopper', prompt: 'A river.', output_schema: RIVER });
    const run = await stage.acme.run({ agent: 'shopper', prompt: 'A river.' });
    // As another model leaves it that takes over.
    await stage.service.runtime.db.rows(sql`
      insert into run_events (run_id, customer_id, key, event_type, payload)
      values (${run.run_id}, ${stage.acme.caller.customerId}, 'turn:3:failover', 'model_failover', ${JSON.stringify({
        turn: 3,
        from: 'claude-sonnet-4-5',
        to: 'scripted',
        code: 'model_unavailable',
        error: 'Overloaded.',
      })}::jsonb) returning id`);
    // What a built-in agent ships with is not configured here.
    const replaced = await stage.acme.run({ agent: 'writer', prompt: 'Write.' });
    const { tab, open } = await show();
    await open(`/runs/${repaired.run_id}?tab=timeline`);
    const timeline = tab.getByRole('list', { name: 'Timeline' });
    const row = (text: RegExp) => timeline.getByRole('listitem').filter({ hasText: text });
    await row(/Context loaded.*1 tool\. Withheld: mcp\.shop\.gone/).waitFor();
    await row(/Answer not of the schema.*name/).waitFor();
    await row(/Model answered\s*\{"name":"Elbe"\}/).waitFor();
    await open(`/runs/${replaced.run_id}?tab=timeline`);
    await row(/Model chosen.*\(agent default fallback\)\. Not the agent’s own model/).waitFor();
    await open(`/runs/${run.run_id}?tab=timeline`);
    await row(/Answer cut off\s*The El/).waitFor();
    await row(/Model replaced\s*asks scripted instead of claude-sonnet-4-5: Overloaded\./).waitFor();
  });

  // Guards: who looks at a run that does nothing is told what it waits for.
  test('a run that waits for the share of its workspace says so', async () => {
    const offline = { model_override: 'offline' };
    const id = await dispatch(stage.acme, { agent: 'assistant', prompt: 'Go [[sleep:60000]]', override: offline });
    const wait = { turn: 1, waits_for: 'share_of_model_calls', since: new Date().toISOString() };
    const { tab, open } = await show();
    await eventually(async () => {
      const { body } = await stage.acme.api('GET', `/v1/runs/${id}`);
      expect(body.status).toBe('running');
    });
    // As a worker leaves it whose slots are all taken.
    await stage.service.runtime.db.rows(sql`
      with waits as (update runs set last_event_type = 'claude_request' where id = ${id} returning id, customer_id)
      insert into run_events (run_id, customer_id, key, event_type, status, payload)
      select id, customer_id, 'turn:1:waits', 'claude_request', 'waiting', ${JSON.stringify(wait)}::jsonb from waits
      returning id`);
    await open(`/runs/${id}`);
    const facts = tab.getByRole('complementary', { name: 'Facts' });
    await facts.getByText(/its workspace’s share of model calls, since/).waitFor();
    await open(`/runs/${id}?tab=timeline`);
    const timeline = tab.getByRole('list', { name: 'Timeline' });
    await timeline.getByText('for its workspace’s share of model calls').waitFor();
    await stage.acme.cp('POST', `/v1/runs/${id}/cancel`);
  });
});
