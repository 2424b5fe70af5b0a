/** Skills where they are used: what the model of a run is told, what it can load, and what a step is bound to. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { builtinSkills } from '../../../src/resources/skills/builtin/index.ts';
import { confirmed } from '../../support/service/otp.ts';
import {
  answer,
  callTools,
  startOpenAiServer,
  type ChatRequest,
  type OpenAiServer,
  type Reply,
} from '../../support/fakes/openai-server.ts';
import { agentStep, makeTemplate, phaseSpec, startProject, untilProject } from '../../support/fixtures/projects.ts';
import { eventsOf } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
  acme = await service.tenant('acc_acme');
  for (const slug of ['cook', 'waiter']) await makeAgent(slug);
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const makeAgent = (slug: string, tenant = acme, allowed_tool_slugs = ['calculator']) =>
  tenant.cp('POST', '/v1/agents', { slug, model: 'scripted', prompt: `You are a ${slug}.`, allowed_tool_slugs });

async function makeSkill(slug: string, more: Record<string, unknown> = {}, tenant = acme): Promise<number> {
  const skill = { slug, name: `Title of ${slug}`, prompt_addendum: `Body of ${slug}.`, ...more };
  const { status, body } = await tenant.cp('POST', '/v1/skills', skill);
  expect([status, body]).toEqual([201, body]);
  return body.id;
}

const load = (slug: string): Reply => callTools({ id: 'load', name: 'load_skill', arguments: { slug } });
const systemOf = ({ body }: ChatRequest): string =>
  present((body.messages as { role: string; content: string }[]).find(({ role }) => role === 'system')).content;
const toolsOf = ({ body }: ChatRequest): string[] => (body.tools ?? []).map(({ function: { name } }) => name);
const resultOf = ({ body }: ChatRequest) =>
  JSON.parse(
    present((body.messages as { role: string; content: string }[]).findLast(({ role }) => role === 'tool')).content,
  );

/** A run of an agent with these replies of its model. */
async function run(agent: string, replies: Reply[], tenant = acme) {
  provider.script(...replies);
  const { status, error, run_id: runId } = await tenant.run({ agent, prompt: 'Lay the table.' });
  expect([status, error]).toEqual(['succeeded', null]);
  return { runId, requests: [...provider.requests] };
}

describe('a run', () => {
  // Guards: an agent is told which skills it can load and reads one without asking anybody; the timeline shows that.
  test('is told of skills and loads them', async () => {
    await makeSkill('napkins', { description: 'Folding\n  napkins' });
    const { runId, requests } = await run('waiter', [load('napkins'), answer('Done.')]);
    const [first, second] = requests as [ChatRequest, ChatRequest];
    expect(systemOf(first)).toMatch(/^You are a waiter\.\n\n# Skills\n/);
    expect(systemOf(first)).toContain('\n- napkins: Folding napkins\n'.trimEnd());
    expect(systemOf(first)).not.toContain('Body of napkins');
    expect(toolsOf(first)).toEqual(['calculator', 'load_skill']);
    expect(resultOf(second)).toEqual({
      slug: 'napkins',
      title: 'Title of napkins',
      content: 'Body of napkins.',
      next_offset: null,
    });
    expect([systemOf(second), toolsOf(second)]).toEqual([systemOf(first), toolsOf(first)]);
    const loaded = present((await eventsOf(acme, runId)).find(({ event_type }) => event_type === 'context_loaded'));
    expect(loaded.payload).toMatchObject({ tools: ['calculator', 'load_skill'], skills: [] });
    expect(loaded.payload.system_length).toBe(systemOf(first).length);
  });

  // Guards: without any skill nothing is said and no tool is offered.
  test('of an agent without skills is as it was', async () => {
    const plain = await service.tenant('acc_plain');
    await makeAgent('cook', plain);
    const { requests } = await run('cook', [answer('Done.')], plain);
    expect([systemOf(itemAt(requests, 0)), toolsOf(itemAt(requests, 0))]).toEqual(['You are a cook.', ['calculator']]);
  });

  // Guards: a skill for one agent is shown to and read by no other agent and no other workspace.
  test('sees what is for its agent', async () => {
    await makeSkill('recipes', { agents: ['cook'] });
    const cooks = await run('cook', [load('recipes'), answer('Done.')]);
    expect(systemOf(itemAt(cooks.requests, 0))).toContain('- recipes: Title of recipes');
    expect(resultOf(itemAt(cooks.requests, 1))).toMatchObject({ content: 'Body of recipes.' });

    provider.reset();
    const waiters = await run('waiter', [load('recipes'), answer('Done.')]);
    expect(systemOf(itemAt(waiters.requests, 0))).not.toContain('recipes');
    expect(resultOf(itemAt(waiters.requests, 1))).toEqual({
      error: expect.stringMatching(/^there is no skill "recipes" that you can load; there are: .*napkins/),
    });

    provider.reset();
    const other = await service.tenant('acc_other');
    await makeAgent('cook', other);
    await makeSkill('bread', {}, other);
    const foreign = await run('cook', [load('recipes'), answer('Done.')], other);
    expect(systemOf(itemAt(foreign.requests, 0))).not.toContain('recipes');
    expect(resultOf(itemAt(foreign.requests, 1))).toEqual({
      error: `there is no skill "recipes" that you can load; there are: ${['bread', ...builtinSkills.keys()].join(', ')}`,
    });
  });

  // Guards: built-in agents use built-in skills without any set-up.
  test('of a built-in agent has built-in skills', async () => {
    const fresh = await service.tenant('acc_fresh');
    const { requests } = await run('coder', [load('code-review'), answer('Done.')], fresh);
    const { description, body } = present(builtinSkills.get('code-review'));
    expect(systemOf(itemAt(requests, 0))).toContain(`- code-review: ${description}`);
    expect(systemOf(itemAt(requests, 0))).not.toContain('- read-aloud:');
    expect(toolsOf(itemAt(requests, 0))).toContain('load_skill');
    expect(resultOf(itemAt(requests, 1))).toMatchObject({ slug: 'code-review', content: body });
  });

  // Guards: skills that a workspace's skill names can be read, a built-in one by every agent.
  test('follows a link to a built-in skill', async () => {
    await makeSkill('menus', { agents: ['cook'], prompt_addendum: 'Write them as [[writing-style]] says.' });
    const { requests } = await run('cook', [load('menus'), load('writing-style'), answer('Done.')]);
    expect(systemOf(itemAt(requests, 0))).not.toContain('writing-style');
    expect(resultOf(itemAt(requests, 2))).toMatchObject({ content: present(builtinSkills.get('writing-style')).body });
  });

  // Guards: a skill that is always loaded is in the prompt as it was when the run began, and the timeline names it.
  test('has always loaded skills in its prompt', async () => {
    await makeSkill('hygiene', { agents: ['cook'], always_load: true });
    const { runId, requests } = await run('cook', [answer('Done.')]);
    expect(systemOf(itemAt(requests, 0))).toContain('## Title of hygiene (hygiene)\n\nBody of hygiene.');
    expect(systemOf(itemAt(requests, 0))).not.toContain('- hygiene:');
    const loaded = present((await eventsOf(acme, runId)).find(({ event_type }) => event_type === 'context_loaded'));
    expect(loaded.payload).toMatchObject({ skills: ['hygiene'] });
    expect(JSON.stringify(loaded)).not.toContain('Body of');
    const { body } = await acme.cp('GET', `/v1/runs/${runId}/context`);
    const skills = body.categories.find(({ category }: { category: string }) => category === 'skills');
    expect(skills.tokens).toBeGreaterThan(0);
  });

  // Guards: a deleted skill can no longer be loaded; a run that has its body goes on with it.
  test('outlives a skill that it holds', async () => {
    await makeSkill('fleeting', { agents: ['waiter'] });
    const deleteThenLoad: Reply = (response, request) => {
      void acme.cp('DELETE', '/v1/skills/fleeting').then(() => load('fleeting')(response, request));
    };
    const { requests } = await run('waiter', [load('fleeting'), deleteThenLoad, answer('Done.')]);
    expect(resultOf(itemAt(requests, 1))).toMatchObject({ content: 'Body of fleeting.' });
    expect(resultOf(itemAt(requests, 2))).toMatchObject({ error: expect.stringContaining('no skill "fleeting"') });
    expect(JSON.stringify(itemAt(requests, 2).body)).toContain('Body of fleeting.');
    expect(systemOf(itemAt(requests, 2))).toContain('- fleeting:');
  });

  // Guards: an archived skill is neither shown nor read until it is active again.
  test('does not see an archived skill', async () => {
    const id = await makeSkill('resting', { agents: ['waiter'] });
    await confirmed(acme, 'PATCH', `/v1/memory/entries/${id}`, { status: 'archived' });
    const { requests } = await run('waiter', [load('resting'), answer('Done.')]);
    expect(systemOf(itemAt(requests, 0))).not.toContain('resting');
    expect(resultOf(itemAt(requests, 1))).toMatchObject({ error: expect.stringContaining('no skill "resting"') });
  });

  // Guards: a body that exceeds a tool's result is read page by page, whole.
  test('reads a long skill in pages', async () => {
    const long = '"\n'.repeat(24_000);
    const id = await makeSkill('long', { agents: ['waiter'] });
    // Beside the API, which would embed it all.
    await service.runtime.db.rows(sql`update memory_entries set content = ${long} where id = ${id}`);
    const next: Reply = (response, request) => {
      const { next_offset: offset } = resultOf(request);
      callTools({ id: 'more', name: 'load_skill', arguments: { slug: 'long', offset } })(response, request);
    };
    const { requests } = await run('waiter', [load('long'), next, answer('Done.')]);
    expect(resultOf(itemAt(requests, 1)).content + resultOf(itemAt(requests, 2)).content).toBe(long);
    expect(resultOf(itemAt(requests, 2)).next_offset).toBeNull();
  });
});

describe('a step of a project', () => {
  /** The project of one agent step with these bindings, carried out. */
  async function project(slug: string, binding: { tools?: string[]; skills?: string[] }): Promise<ChatRequest> {
    provider.reset();
    provider.otherwise(answer('Done.'));
    await makeTemplate(acme, slug, [
      phaseSpec('one', [{ ...agentStep('serve', { assignee: 'waiter' }), tools: undefined, ...binding }]),
    ]);
    await untilProject(acme, await startProject(acme, slug), 'completed');
    return itemAt(provider.requests, 0);
  }

  // Guards: the skill that a step is bound to is in its prompt as a whole, without a tool.
  test('has the skills that it is bound to', async () => {
    await makeSkill('silver', { agents: ['cook'] });
    const request = await project('bound', { skills: ['silver', 'planning'] });
    expect(systemOf(request)).toContain('## Title of silver (silver)\n\nBody of silver.');
    expect(systemOf(request)).toContain(`## Planning (planning)\n\n${present(builtinSkills.get('planning')).body}`);
    expect(systemOf(request)).not.toContain('- napkins');
    expect(toolsOf(request)).toEqual(['load_skill']);
  });

  // Guards: a step that names no skill is told only of those that are always loaded.
  test('has none that it does not name', async () => {
    const request = await project('unbound', { tools: ['calculator'] });
    expect([systemOf(request), toolsOf(request)]).toEqual(['You are a waiter.', ['calculator']]);
    await makeSkill('manners', { agents: ['waiter'], always_load: true });
    const next = await project('mannered', { tools: ['calculator'] });
    expect(systemOf(next)).toContain('Body of manners.');
    expect(toolsOf(next)).toEqual(['calculator', 'load_skill']);
  });
});
