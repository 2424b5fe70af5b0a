/** What is not accepted as a project. */
import { describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { dumpRecords } from '../../support/database/dump-tables.ts';
import { phase, spec, step } from '../templates/specs.ts';
import { acme, makeTemplate, other, pipeline, request, rows, service, usePipeline } from './pipeline.ts';

usePipeline();

describe('is refused', () => {
  const large = { topic: 'x', text: 'x'.repeat(70_000) };
  const REFUSED: [what: string, change: Record<string, unknown>, detail: string | RegExp][] = [
    ['no workflow', { workflow_slug: undefined }, 'workflow_slug required'],
    ['a blank workflow', { workflow_slug: ' ' }, 'workflow_slug required'],
    ['an unknown workflow', { workflow_slug: 'nowhere' }, 'unknown or archived workflow: nowhere'],
    ['an unknown version', { workflow_version: 7 }, 'unknown or archived workflow: pipeline version 7'],
    ['a version far away', { workflow_version: 9_007_199_254_740_991 }, /^unknown or archived workflow/],
    ['version 0', { workflow_version: 0 }, 'workflow_version must be 1 or more'],
    ['a version that is a text', { workflow_version: '1' }, 'workflow_version must be a whole number'],
    ['no brief', { brief: undefined }, 'brief required'],
    ['a blank brief', { brief: ' \n ' }, 'brief required'],
    ['an endless brief', { brief: 'x'.repeat(50_001) }, 'brief too long (max 50000)'],
    ['a blank title', { title: '  ' }, 'title required'],
    ['a long title', { title: 'x'.repeat(201) }, 'title too long (max 200)'],
    ['a budget of nothing', { cost_budget_usd: 0 }, /^cost_budget_usd must be/],
    ['a negative budget', { cost_budget_usd: '-1' }, /^cost_budget_usd must be/],
    ['an exponent', { cost_budget_usd: '1e3' }, /^cost_budget_usd must be/],
    ['a budget too small to keep', { cost_budget_usd: 1e-9 }, /^cost_budget_usd must be/],
    ['a budget too fine to keep', { cost_budget_usd: '0.123456789' }, /^cost_budget_usd must be/],
    ['a budget too large to keep', { cost_budget_usd: 1e300 }, /^cost_budget_usd must be/],
    ['a budget over the limit', { cost_budget_usd: '1000000000.01' }, /^cost_budget_usd must be/],
    ['a budget of another kind', { cost_budget_usd: [1] }, /^cost_budget_usd must be/],
    ['params of another kind', { params: 'bees' }, /params/],
    ['too large params', { params: large }, 'params too large (max 64 KB)'],
    ['params that lack one', { params: {} }, /params.*topic/],
    ['params against the schema', { params: { topic: 'x'.repeat(41) } }, /^topic must/],
    ['no params where some are required', { params: undefined }, /params.*topic/],
    ['unknown params', { params: { topic: 'x', more: 1 } }, /params/],
    ['a NUL character', { brief: 'a\u0000b' }, /NUL/],
    ['half a character', { title: '\ud800' }, /Unicode/],
  ];

  // Guards: bad input is a 400 that names what is wrong, on both surfaces, and leaves nothing behind.
  test.each(REFUSED)('%s', async (_what, change, detail) => {
    const before = await dumpRecords(service.runtime.db);
    for (const post of [acme.cp, acme.api]) {
      const { status, body } = await post('POST', '/v1/projects', { ...request, ...change });
      expect(status).toBe(400);
      if (typeof detail === 'string') expect(body).toEqual({ detail });
      else expect(body.detail).toMatch(detail);
    }
    expect(await dumpRecords(service.runtime.db)).toEqual(before);
  });

  // Guards: the control plane asks for a title, the public API makes one.
  test('a missing title, on the control plane', async () => {
    expect(await acme.cp('POST', '/v1/projects', { ...request, title: undefined })).toMatchObject({
      status: 400,
      body: { detail: 'title required' },
    });
  });

  test.each([['[]'], ['"text"'], ['7'], ['null']])('a body of %s', async (text) => {
    expect(await acme.cp('POST', '/v1/projects', JSON.parse(text))).toMatchObject({ status: 400 });
  });

  // Guards: names such as `__proto__` in a hostile body have no effect.
  test('nothing for a __proto__ in params', async () => {
    const params = JSON.parse('{"topic": "bees", "__proto__": {"polluted": true}}');
    const { status } = await acme.cp('POST', '/v1/projects', { ...request, params });
    expect([201, 400]).toContain(status);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  // Guards: what a step names has to exist when the project begins, whatever existed when the template was made.
  test('steps that nobody can carry out', async () => {
    await acme.cp('POST', '/v1/agents', { slug: 'passing', model: 'offline', prompt: 'You help.' });
    const steps = [step('write', { assignee: 'passing' })];
    await makeTemplate(acme, spec({ slug: 'fleeting', phases: [phase('draft', { steps })] }));
    await acme.cp('DELETE', '/v1/agents/passing?force=true');
    const refused = await acme.cp('POST', '/v1/projects', { ...request, workflow_slug: 'fleeting', params: undefined });
    expect(refused.status).toBe(400);
    expect(refused.body.detail).toMatch(/^template has unresolvable step bindings: .*passing/);
  });

  // Guards: another workspace's workflow is unknown.
  test("another workspace's workflow", async () => {
    expect(await other.cp('POST', '/v1/projects', request)).toMatchObject({
      status: 400,
      body: { detail: 'unknown or archived workflow: pipeline' },
    });
  });

  // Guards: an archived workspace starts nothing.
  test('an archived workspace', async () => {
    const gone = await service.tenant('acc_gone');
    await makeTemplate(gone, pipeline());
    await rows(sql`update workspaces set status = 'archived', archived_at = now() where customer_id = 'gone'`);
    for (const post of [gone.cp, gone.api]) {
      expect(await post('POST', '/v1/projects', request)).toMatchObject({
        status: 403,
        body: { detail: 'workspace_archived' },
      });
    }
  });
});
