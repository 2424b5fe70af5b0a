/** Each workflow that ships, from its start over HTTP to the file that it makes, on the offline model. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { projectWorkflowId, type Decision } from '../../../src/resources/projects/model.ts';
import type { RenderedFile } from '../../../src/resources/actions/builtin/rendering/file.ts';
import { builtinTemplates } from '../../../src/resources/templates/builtin/index.ts';
import { resolveGateSignal } from '../../../workflows/project/messages.ts';
import {
  artifactsOf,
  attemptsAt,
  command,
  contextOf,
  projectOf,
  tasksOf,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { drawn } from '../../support/runner/sizes.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { parseXml, runAction } from '../actions/context.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_acme');
});
afterAll(() => service.close());

/** For parameters that nothing sensible can stand in for. */
const PARAMS: Record<string, Record<string, unknown>> = {
  'landing-page': { call_to_action_url: 'https://example.com/start' },
  worksheet: { grade: 'grade 5' },
};

const TITLE = 'Bees on city roofs';

async function start(slug: string): Promise<string> {
  const brief = 'Why beekeeping on city roofs is growing.\nFor people who have a flat roof.';
  const body = { workflow_slug: slug, title: TITLE, brief, params: PARAMS[slug] ?? {} };
  const started = await tenant.api('POST', '/v1/projects', body);
  expect(started).toMatchObject({ status: 201 });
  return started.body.project_id;
}

interface Step {
  id: string;
  kind: string;
  status: string;
  gate_kind: string | null;
  error: string | null;
}

async function stepsOf(id: string): Promise<Step[]> {
  const tasks = await tasksOf(tenant, id);
  const lists = tasks.map((task) => tenant.cp('GET', `/v1/projects/${id}/tasks/${task.id}/subtasks`));
  return (await Promise.all(lists)).flatMap(({ body }) => body.data as Step[]);
}

/** A person answers over HTTP, another system with a signal. */
async function answer(
  id: string,
  { id: subtask_id, gate_kind }: Pick<Step, 'id' | 'gate_kind'>,
  said: { decision: Decision; comment?: string } = { decision: 'approved' },
): Promise<void> {
  if (gate_kind === 'human') await command(tenant, id, `subtasks/${subtask_id}/resolve-gate`, said);
  if (gate_kind === 'webhook') {
    await service.runtime.temporal.client.workflow
      .getHandle(projectWorkflowId(id))
      .signal(resolveGateSignal, { subtask_id, decided_by: 'the other system', ...said });
  }
}

/** @returns kinds of the gates that had to be answered, each once */
async function drive(id: string): Promise<string[]> {
  const answered = new Map<string, string>();
  await eventually(async () => {
    const project = await projectOf(tenant, id);
    if (project.status === 'completed') return;
    const steps = await stepsOf(id);
    const waiting = steps.filter(({ kind, status }) => kind === 'gate' && status === 'blocked');
    for (const gate of waiting) {
      if (!answered.has(gate.id)) await answer(id, gate);
      answered.set(gate.id, present(gate.gate_kind));
    }
    const faults = steps.flatMap(({ error }) => error ?? []).join('; ');
    throw new Error(`project ${id} is ${project.status} (${project.pause_reason}) ${faults}`);
  });
  return [...answered.values()].sort();
}

// Guards: each built-in pipeline works: every step runs, each gate asks once and is answered, and the last artifact
// opens.
test.each(drawn('pipelines', builtinTemplates, 4).map(({ spec }) => [spec.slug, spec] as const))(
  '%s runs to its end',
  async (slug, spec) => {
    const id = await start(slug);
    const gates = spec.phases.flatMap(({ steps }) => steps.flatMap(({ gate_kind }) => gate_kind ?? []));
    expect(await drive(id)).toEqual(gates.sort());

    expect((await stepsOf(id)).map(({ status }) => status)).toEqual((await stepsOf(id)).map(() => 'succeeded'));
    const artifacts = await artifactsOf(tenant, id);
    expect(artifacts.map(({ phase_slug }) => phase_slug).sort()).toEqual(spec.phases.map((phase) => phase.slug).sort());
    const last = present(artifacts.find(({ phase_slug }) => phase_slug === itemAt(spec.phases, -1).slug));
    const file = last.content as RenderedFile;
    expect(file.filename).toMatch(/^bees-on-city-roofs\.(html|md|svg)$/);
    // The title of the project, or what the offline model makes of its brief.
    expect(file.content).toMatch(/(bees|beekeeping) on city roofs/i);
    if (file.content_type === 'text/html') {
      expect(await runAction('check_html', { inputs: { file } })).toMatchObject({ passed: true });
    } else if (file.content_type === 'image/svg+xml') expect(parseXml(file.content)[0]).toMatchObject({ name: 'svg' });
  },
);

// Guards: a rejection reaches the step that can change the work, with the comment, and the gate then asks again.
const REWORKED = [
  ['blog-post', 'draft', 'approve', 'write'],
  ['landing-page', 'page', 'compliance', 'finish'],
] as const;
test.each(drawn('reworked', REWORKED, 1))('%s is reworked after a rejection', async (slug, phase, gate, producer) => {
  const id = await start(slug);
  const comment = 'Name the costs of the first year.';
  await answer(id, await untilStep(tenant, id, phase, gate, 'blocked'), { decision: 'rejected', comment });
  const [, second] = await eventually(async () => {
    const attempts = await attemptsAt(tenant, id, phase, producer);
    if (attempts[1]?.status !== 'succeeded') throw new Error(`${producer} is not reworked yet`);
    return attempts;
  });
  expect(second.attempt_reason).toBe('manual_rework');
  expect(await contextOf(tenant, second)).toContain(comment);
  await drive(id);
});
