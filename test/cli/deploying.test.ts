/** What a pipeline does: every kind of file, with secrets of its environment and a token that deploys and does nothing else. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { jobPrefix } from '../../src/resources/scheduled-jobs/triggers.ts';
import { openDeployFolder, type DeployFolder } from '../support/cli/files.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let deploy: DeployFolder;
let made = 0;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => service?.close());
beforeEach(async () => {
  made += 1;
  tenant = await service.tenant(`acc_deploying_${made}`);
  deploy = await openDeployFolder({ baseUrl: service.baseUrl, session: tenant.session });
});
afterEach(() => deploy.close());

const SECRETS = { TEAM_HOOK: 'https://hooks.slack.com/services/T0/B0/part', SIGNING: 'a-signing-secret-0123' };

async function everyKind(): Promise<void> {
  await deploy.file('agents/scribe.yaml', 'slug: scribe\nprompt: You write.\nallowed_tools: [load_skill]\n');
  await deploy.file(
    'jobs/nightly.yaml',
    'name: Nightly\ncron: 0 3 * * *\nagent_slug: scribe\nbrief: Sum the day up.\n',
  );
  await deploy.file(
    'heartbeats/pulse.yaml',
    'name: Pulse\nagent_slug: scribe\nprompt: Anything new?\ninterval_s: 86400\n',
  );
  await deploy.file(
    'destinations/team.yaml',
    'name: Team\nkind: slack\nconfig:\n  webhook_url: { env: TEAM_HOOK }\nwaits: true\n',
  );
  await deploy.file(
    'webhooks/crm.yaml',
    'url: https://crm.example.com/hook\nevents: [run.failed]\nsecret: { env: SIGNING }\n',
  );
  await deploy.file(
    'memories/voice.yaml',
    'slug: voice\ntype: fact\ncontent: We say you, never one.\nmeta: { team: docs }\n',
  );
}
const token = async (): Promise<string> => {
  const { body } = await tenant.cp('POST', '/v1/deploy-tokens', { name: 'ci' });
  return body.token;
};

// Guards: jobs, heartbeats, destinations, webhooks and memories round trip like agents do, and their schedules follow.
test('every kind is applied, is as it is then, and comes back by an export', async () => {
  await everyKind();
  const env = { ...SECRETS, AOS_SESSION: await token() };
  const applied = await deploy.run(['apply', deploy.directory, '--yes', '--revision', 'abc123'], env);
  expect(applied).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('applied: 6 changes') });
  expect(await deploy.run(['plan', deploy.directory, '--detailed-exitcode'], env)).toMatchObject({
    code: 0,
    stdout: 'nothing to change: 6 as in the files\n',
  });
  const elsewhere = join(deploy.folder, 'exported');
  expect(await deploy.aos('export', elsewhere)).toContain('6 written');
  expect(await deploy.run(['plan', elsewhere])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('nothing to change: 6'),
  });
  const { body } = await tenant.cp('GET', '/v1/manifests');
  expect(JSON.stringify(body)).not.toMatch(/services\/T0|a-signing-secret/);

  const [job] = (await tenant.cp('GET', '/v1/scheduled-jobs')).body.data.filter(
    ({ name }: { name?: string }) => name === 'Nightly',
  );
  expect(job).toMatchObject({ kind: 'custom', agent: 'scribe', enabled: true });
  const { config, temporal } = service.runtime;
  const schedule = temporal.client.schedule.getHandle(`${jobPrefix(config)}${tenant.caller.customerId}/${job.id}`);
  expect((await schedule.describe()).state.paused).toBe(false);
});

// Guards: what came from files is listed with who brought it, and says when somebody has changed it by hand.
test('drift is shown', async () => {
  await everyKind();
  const env = { ...SECRETS, AOS_SESSION: await token() };
  await deploy.run(['apply', deploy.directory, '--yes', '--revision', 'abc123'], env);
  expect(await deploy.aos('deployed')).toMatch(
    /\nagent +scribe +as applied +\S+ \S+ +deploy-token:\d+ +abc123 +agents\/scribe\.yaml\n/,
  );
  await deploy.aos('agents', 'update', 'scribe', '--description', 'By hand');
  await tenant.cp('DELETE', `/v1/heartbeats/${(await tenant.cp('GET', '/v1/heartbeats')).body.data[0].id}`);
  expect(await deploy.aos('deployed')).toMatch(
    /\nagent +scribe +changed by hand [^]*\nheartbeat +Pulse +deleted by hand /,
  );
  const planned = await deploy.run(['plan', deploy.directory], env);
  expect(planned.stdout).toContain('description: "By hand" -> ""\n    1 scheduled job runs it\n');
  expect(planned.stdout).toContain('+ heartbeat Pulse');
  await deploy.run(['apply', deploy.directory, '--yes'], env);
  expect(await deploy.aos('deployed')).not.toMatch(/by hand/);
});

// Guards: what goes from the files is listed, deleted only when that is asked for, and never what came from elsewhere.
test('prunes what came from these files, with a list first', async () => {
  await everyKind();
  const env = { ...SECRETS, AOS_SESSION: await token() };
  await deploy.run(['apply', deploy.directory, '--yes'], env);
  await deploy.aos('agents', 'create', 'by-hand', '--prompt', 'You stay.');
  for (const name of ['jobs/nightly', 'destinations/team', 'webhooks/crm', 'memories/voice', 'agents/scribe']) {
    await deploy.remove(`${name}.yaml`);
  }
  const left = await deploy.run(['plan', deploy.directory], env);
  expect(left.stdout).toContain('agent scribe is in the files no more (agents/scribe.yaml): --prune deletes it');
  expect((await deploy.run(['plan', deploy.directory, '--prune'], env)).stderr).toContain(
    'heartbeats/pulse.yaml:2: agent_slug: the agent "scribe" is in the files no more, and is pruned',
  );
  await deploy.file(
    'heartbeats/pulse.yaml',
    'name: Pulse\nagent_slug: by-hand\nprompt: Anything new?\ninterval_s: 86400\n',
  );
  expect((await deploy.run(['plan', deploy.directory, '--prune', '--source', 'another'], env)).stdout).not.toContain(
    '- ',
  );
  const planned = await deploy.run(['plan', deploy.directory, '--prune', '--detailed-exitcode'], env);
  expect(planned.code).toBe(2);
  expect(planned.stdout).toMatch(
    /^- webhook https:\/\/crm.*\n- destination Team.*\n- job Nightly.*\n- memory voice.*\n- agent scribe.*\n {4}1 scheduled job/,
  );
  expect((await deploy.run(['apply', deploy.directory, '--prune', '--yes'], env)).stdout).toContain(
    'applied: 6 changes',
  );
  const { body } = await tenant.cp('GET', '/v1/manifests');
  expect(body.data.map(({ name }: { name: string }) => name).sort()).toEqual(['Pulse', 'by-hand']);
  expect(await deploy.aos('deployed')).toMatch(/^KIND.*\nheartbeat .*\n$/);
});

// Guards: a memory that agents or people wrote is never taken for one of the files.
test('a memory that is not marked is left alone', async () => {
  const entry = { slug: 'voice', type: 'fact', content: 'Written by an agent.' };
  await tenant.cp('POST', '/v1/memory/entries', entry);
  await deploy.file('memories/voice.yaml', 'slug: voice\ntype: fact\ncontent: Written by a file.\n');
  expect((await deploy.run(['apply', deploy.directory, '--yes'])).stderr).toContain(
    'memories/voice.yaml:1: slug: a memory or skill of this slug is there, and not of the files',
  );
  expect((await tenant.cp('GET', '/v1/manifests')).body.data).toEqual([]);
});

// Guards: a token is shown once and listed; it deploys and does nothing else, and not any more once it is revoked.
test('a deploy token', async () => {
  await deploy.file('agents/scribe.yaml', 'slug: scribe\nprompt: You write.\n');
  const [shown = ''] = (await deploy.aos('tokens', 'create', 'github', '--expires-in', '30')).split('\n');
  const env = { AOS_SESSION: shown };
  expect(await deploy.aos('tokens')).toMatch(/\n +\d+ +github +active /);
  expect(await deploy.run(['apply', deploy.directory, '--yes'], env)).toMatchObject({ code: 0, stderr: '' });
  for (const args of [['agents'], ['runs'], ['tokens'], ['keys'], ['agents', 'delete', 'scribe']]) {
    expect(await deploy.run(args, env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a deploy token exports, plans'),
    });
  }
  expect(await deploy.aos('audit', '--action', 'manifests.apply')).toMatch(/deploy-token:\d+/);
  expect(await deploy.aos('audit', '--action', 'deploy-tokens.create')).toContain('deploy-tokens.create');
  const { data } = JSON.parse(await deploy.aos('tokens', '--json'));
  expect(data).toMatchObject([{ name: 'github', last_used_at: expect.any(String) }]);
  expect(JSON.stringify(data)).not.toContain(shown);
  await deploy.aos('tokens', 'delete', String(data[0].id));
  expect(await deploy.run(['plan', deploy.directory], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the session does not count'),
  });
  expect(await deploy.aos('tokens')).toMatch(/github +revoked/);
});
