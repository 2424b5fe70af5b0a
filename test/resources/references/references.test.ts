/** What things name of others: whoever saves them is told of what is not there, and whoever deletes it of what uses it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { answer, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
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
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const stub = { description: 'Says something.', schema: { type: 'object' }, kind: 'stub', body: { result: 1 } };
const agent = { model: 'scripted', prompt: 'You help.' };
const job = { name: 'nightly', cron: '0 3 * * *', agent_slug: 'assistnt', brief: 'Look.' };
const beat = { name: 'pulse', agent_slug: 'assistnt', prompt: 'Look.', interval_s: 3_600, enabled: false };
const skill = { name: 'A skill', agents: ['assistnt'] };

const codes = (body: { warnings?: { path: string; code: string }[] }) =>
  body.warnings?.map(({ path, code }) => [path, code]);
const made = async (path: string, body: Record<string, unknown>, tenant = acme) => {
  const reply = await tenant.cp('POST', path, body);
  expect([reply.status, reply.body]).toEqual([201, reply.body]);
  return reply.body;
};

describe('a reference to nothing', () => {
  // Guards: everything that names an agent or a tool is saved, and says what of it is not there, with the nearest name.
  test.each([
    [
      'agents',
      { slug: 'one', ...agent, allowed_tools: ['calculator', 'calculater'] },
      'allowed_tools[1]',
      'calculator',
    ],
    ['skills', { slug: 'one-skill', ...skill }, 'agents[0]', 'assistant'],
    ['scheduled-jobs', job, 'agent_slug', 'assistant'],
    ['heartbeats', beat, 'agent_slug', 'assistant'],
  ])('in %s is warned of at creation and update', async (resource, body, path, near) => {
    const created = await made(`/v1/${resource}`, body);
    const warning = { path, code: expect.stringMatching(/^unknown_/), message: expect.stringContaining(near) };
    expect(created.warnings).toEqual([warning]);
    const change = 'slug' in body ? { description: 'Other' } : { enabled: true };
    const { status, body: changed } = await acme.cp('PATCH', `/v1/${resource}/${created.slug ?? created.id}`, change);
    expect([status, changed.warnings]).toEqual([200, [warning]]);
  });

  // Guards: what is whole is answered as documented, without a word more.
  test.each([
    ['agents', { slug: 'two', ...agent, allowed_tools: ['calculator'] }],
    ['skills', { slug: 'two-skill', ...skill, agents: ['assistant'] }],
    ['scheduled-jobs', { ...job, name: 'other', agent_slug: 'assistant' }],
    ['heartbeats', { ...beat, name: 'other', agent_slug: 'assistant' }],
  ])('in %s is the only thing that is warned of', async (resource, body) => {
    expect(Object.keys(await made(`/v1/${resource}`, body))).not.toContain('warnings');
  });

  // Guards: another workspace's tool and agent count as none; a tool for people alone is none that agents can call.
  test('is one to what the workspace or its agents do not have', async () => {
    const other = await service.tenant('acc_other');
    await made('/v1/tools', { slug: 'theirs', ...stub }, other);
    await made('/v1/agents', { slug: 'theirs', ...agent }, other);
    await made('/v1/tools', { slug: 'by-hand', ...stub, access: 'human' });
    const created = await made('/v1/agents', { slug: 'three', ...agent, allowed_tools: ['theirs', 'by-hand'] });
    expect(codes(created)).toEqual([
      ['allowed_tools[0]', 'unknown_tool'],
      ['allowed_tools[1]', 'unknown_tool'],
    ]);
    expect(codes(await made('/v1/skills', { slug: 'three-skill', ...skill, agents: ['theirs'] }))).toEqual([
      ['agents[0]', 'unknown_agent'],
    ]);
  });

  // Guards: the timeline lists what the model was offered, and apart from it what the agent has in vain.
  test('is not among the tools that a run is offered', async () => {
    await made('/v1/agents', { slug: 'four', ...agent, allowed_tools: ['calculator', 'nothing'] });
    provider.reset();
    provider.script(answer('Done.'));
    const { run_id: runId } = await acme.run({ agent: 'four', prompt: 'Go.' });
    const loaded = present((await eventsOf(acme, runId)).find(({ event_type }) => event_type === 'context_loaded'));
    const [request] = provider.requests;
    const offered = (present(request).body.tools ?? []).map(({ function: { name } }) => name);
    expect(loaded.payload).toMatchObject({ tools: offered, tools_withheld: ['nothing'] });
    expect(offered).toEqual(['calculator']);
  });
});

describe('a model without a provider', () => {
  const setModel = (slug: string, body: Record<string, unknown>) => acme.cp('PATCH', `/v1/agents/${slug}/model`, body);

  // Guards: who sets a model is told which one runs use, or that they fail.
  test('is warned of with what really runs', async () => {
    const { body } = await setModel('writer', { default_model: 'claude-opus-4-5' });
    expect(codes(body)).toEqual([['default_model', 'model_not_used']]);
    expect(body.warnings[0].message).toMatch(/claude-opus-4-5 needs Anthropic.*ANTHROPIC_API_KEY.*runs fail\.$/);
    provider.reset();
    const { error } = await acme.run({ agent: 'writer', prompt: 'Go.' });
    expect(error).toMatch(/^model_not_configured: .*claude-opus-4-5/);
    expect(provider.requests).toEqual([]);
    const { body: own } = await setModel('writer', { default_model: 'scripted' });
    expect(own).not.toHaveProperty('warnings');
  });

  // Guards against: a fallback that is found out to be none in the night in which it is needed.
  test('is refused as a fallback', async () => {
    const fallback_models = ['scripted', 'claude-opus-4-5'];
    const loc = ['body', 'fallback_models', 1];
    const refusal = {
      detail: [
        { loc, type: 'model_not_configured', msg: expect.stringMatching(/ANTHROPIC_API_KEY.*openai-compatible/) },
      ],
    };
    const answers = [
      await acme.cp('POST', '/v1/agents', { slug: 'falling', ...agent, fallback_models }),
      await setModel('writer', { fallback_models }),
    ];
    for (const each of answers) expect(each).toMatchObject({ status: 422, body: refusal });
    expect((await setModel('writer', { fallback_models: ['scripted'] })).status).toBe(200);
  });

  // Guards: a default model does nothing while the agent's own is `auto`.
  test('is told from one that `auto` hides', async () => {
    const hidden = await made('/v1/agents', { slug: 'five', ...agent, model: 'auto', default_model: 'gpt-5.5' });
    expect(hidden.warnings[0].message).toMatch(/^Runs do not use gpt-5\.5/);
  });

  // Guards: a job's model overrides that of its agent, so it is looked at too.
  test('is warned of in a job', async () => {
    const saved = await made('/v1/scheduled-jobs', { ...job, name: 'deep', agent_slug: 'assistant', model: 'gpt-5.5' });
    expect(codes(saved)).toEqual([['model', 'model_not_used']]);
  });
});

describe('what others name', () => {
  let users: Tenant;
  beforeAll(async () => {
    users = await service.tenant('acc_users');
    await made('/v1/tools', { slug: 'hammer', ...stub }, users);
    await made('/v1/skills', { slug: 'nailing', name: 'Nailing', prompt_addendum: 'With [[hammer]].' }, users);
    await made('/v1/skills', { slug: 'roofing', name: 'Roofing', prompt_addendum: 'See [[nailing]].' }, users);
    await made('/v1/agents', { slug: 'smith', ...agent, allowed_tools: ['hammer'] }, users);
    await made('/v1/skills', { slug: 'secrets', name: 'Secrets', agents: ['smith'] }, users);
    await made('/v1/scheduled-jobs', { ...job, agent_slug: 'smith' }, users);
    await made('/v1/heartbeats', { ...beat, agent_slug: 'smith' }, users);
    const step = agentStep('wall', { assignee: 'smith', tools: ['hammer'], skills: ['nailing'] });
    await makeTemplate(users, 'house', [phaseSpec('build', [gateStep('permit'), step])]);
    await startProject(users, 'house');
  });

  const refusal = async (path: string) => {
    const { status, body } = await users.cp('DELETE', path);
    return [status, body.detail?.code, body.detail?.used_by.map(({ kind }: { kind: string }) => kind)];
  };

  // Guards: nothing that something else needs goes by mistake; whoever insists is obeyed, and then told nothing.
  test.each([
    ['/v1/tools/hammer', ['agent', 'project', 'skill', 'workflow']],
    ['/v1/skills/nailing', ['project', 'skill', 'workflow']],
    ['/v1/agents/smith', ['heartbeat', 'job', 'project', 'skill', 'workflow']],
  ])('%s is deleted by force alone', async (path, kinds) => {
    expect(await refusal(path)).toEqual([409, 'in_use', kinds]);
    expect((await users.cp('DELETE', `${path}?force=true`)).status).toBe(204);
    expect((await users.cp('DELETE', `${path}?force=true`)).status).toBe(404);
  });

  // Guards: what another workspace has under the same name is no use of this one's.
  test('is free where only another workspace names it', async () => {
    const free = await service.tenant('acc_free');
    await made('/v1/tools', { slug: 'hammer', ...stub }, free);
    await made('/v1/agents', { slug: 'smith', ...agent }, free);
    await made('/v1/skills', { slug: 'nailing', name: 'Nailing' }, free);
    for (const path of ['/v1/tools/hammer', '/v1/agents/smith', '/v1/skills/nailing']) {
      expect((await free.cp('DELETE', path)).status).toBe(204);
    }
  });
});
