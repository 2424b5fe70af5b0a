/** The tools of projects in a project that runs: what its agents read, and how one lets it go on. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  agentStep,
  artifactsOf,
  gateStep,
  makeTemplate,
  phaseSpec,
  projectEventsOf,
  startProject,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let folder: string;
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'project-tools-'));
  service = await startTestService({ env: { DATA_DIR: folder } });
  tenant = await service.tenant('acc_acme');
  await tenant.cp('POST', '/v1/agents', {
    slug: 'hook',
    model: 'offline',
    prompt: 'You pass on what systems say.',
    allowed_tool_slugs: ['pipeline_resolve_webhook_gate', 'read_artifact'],
  });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const callOf = (slug: string, args: object) => `[[tool:${slug} ${JSON.stringify(args)}]]`;
const resultsOf = (tool: string) =>
  service.runtime.db.rows<{ status: string; result: Record<string, unknown> }>(sql`
    select c.status, c.result from run_tool_calls c join runs r on r.id = c.run_id
    where c.tool = ${tool} order by r.seq, c.call_id`);

// Guards: an agent of a later phase reads earlier artifacts and attachments; a run outside of the project answers the
// gate between them once, in the name of its system.
test('reads the project it works for, after its gate was answered', async () => {
  const reads = `${callOf('read_artifact', { phase_slug: 'outline' })} ${callOf('read_attachment', { filename: 'brief.md' })}`;
  await makeTemplate(tenant, 'gated', [
    phaseSpec('outline', [agentStep('write')]),
    phaseSpec(
      'publish',
      [
        gateStep('hook', 'webhook'),
        agentStep('announce', { instructions: `Announce it. ${reads}`, tools: ['read_artifact', 'read_attachment'] }),
      ],
      { depends_on: ['outline'] },
    ),
  ]);
  const projectId = await startProject(tenant, 'gated');
  const form = new FormData();
  form.append('files', new Blob(['Say it in one line.']), 'brief.md');
  expect(await tenant.cp('POST', `/v1/projects/${projectId}/attachments`, form)).toMatchObject({ status: 201 });
  const gate = await eventually(async () => {
    const { body } = await tenant.cp('GET', '/v1/webhooks?status=blocked');
    expect(body.data).toHaveLength(1);
    return body.data[0];
  });

  const answer = { project_id: projectId, subtask_id: gate.subtask_id, decided_by: 'ci', payload: { build: 7 } };
  const prompt = callOf('pipeline_resolve_webhook_gate', answer);
  expect(await tenant.run({ agent: 'hook', prompt })).toMatchObject({ status: 'succeeded' });
  await untilProject(tenant, projectId, 'completed');
  await tenant.run({ agent: 'hook', prompt });
  expect(await resultsOf('pipeline_resolve_webhook_gate')).toMatchObject([
    { status: 'succeeded', result: { project_id: projectId, subtask_id: gate.subtask_id, decision: 'approved' } },
    { status: 'failed', result: { error: `gate ${gate.subtask_id} is not waiting` } },
  ]);
  expect(await projectEventsOf(tenant, projectId)).toContainEqual(
    expect.objectContaining({ topic: 'gate_resolved', actor_kind: 'external', actor_id: 'ci' }),
  );

  const outline = (await artifactsOf(tenant, projectId)).find(({ phase_slug }) => phase_slug === 'outline');
  expect(await resultsOf('read_artifact')).toMatchObject([
    { status: 'succeeded', result: { phase_slug: 'outline', version: 1, content: outline.content, next_offset: null } },
  ]);
  expect(await resultsOf('read_attachment')).toMatchObject([
    { status: 'succeeded', result: { filename: 'brief.md', content: 'Say it in one line.' } },
  ]);

  await tenant.run({ agent: 'hook', prompt: callOf('read_artifact', { phase_slug: 'outline' }) });
  expect((await resultsOf('read_artifact')).at(-1)).toMatchObject({
    status: 'failed',
    result: { error: expect.stringContaining('not part of a project') },
  });
});
