/** Steps of projects that ask a person. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first } from '../../../src/platform/core/present.ts';
import {
  agentStep,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  stepOf,
  untilGate,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { tool } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { askedOn, look, resultsOf, send } from './people.ts';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_projects');
  await makeTemplate(tenant, 'asking', [
    phaseSpec('draft', [
      agentStep('write', {
        instructions: `Write it. ${tool('ask_human', { question: 'For whom?' })}`,
        tools: ['ask_human'],
      }),
      gateStep('approve'),
    ]),
  ]);
});
afterAll(() => service?.close());

/** The run of the step that asks, and the page it asks on. */
async function asked(projectId: string) {
  const runId = await eventually(async () => {
    const [run] = await service.runtime.db.rows<{ id: string }>(sql`
      select r.id from runs r join attempts a on a.id = r.attempt_id
      join subtasks s on s.id = a.subtask_id where s.project_id = ${projectId}`);
    if (!run) throw new Error(`no step of ${projectId} runs yet`);
    return run.id;
  });
  return { runId, page: await askedOn(service, tenant, runId) };
}

// Guards: a step waits for a person through a pause of its project and goes on with the answer; its gate works as
// usual.
test('a step asks, and goes on with the answer', async () => {
  const id = await startProject(tenant, 'asking');
  const { runId, page } = await asked(id);
  expect((await command(tenant, id, 'pause')).status).toBe(200);
  expect((await stepOf(tenant, id, 'draft', 'write')).status).toBe('running');
  expect((await send(page, '{"answer":"For bakers","decision":"approved"}')).status).toBe(200);
  expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
  expect(first(await resultsOf(tenant, runId)).result_preview).toContain('For bakers');
  expect((await command(tenant, id, 'resume')).status).toBe(200);
  const gate = await untilGate(tenant, id, 'draft', 'approve');
  expect((await gate.approve()).status).toBe(200);
  await untilProject(tenant, id, 'completed');
});

// Guards: a project that was abandoned asks nobody any more.
test('the question of an abandoned project is closed', async () => {
  const id = await startProject(tenant, 'asking');
  const { page } = await asked(id);
  expect((await command(tenant, id, 'abandon')).status).toBe(200);
  await eventually(async () => expect((await look(page)).status).toBe(410));
  expect((await send(page, '{"answer":"Late"}')).status).toBe(404);
});
