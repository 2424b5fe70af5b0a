/** Projects for tests of commands over HTTP: one that waits at a gate, one that runs through, one that fails. */
import { afterAll, beforeAll } from '@jest/globals';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

export let service: TestService;

export let acme: Tenant;

export let other: Tenant;

/** Before the tests of a file: a service with two tenants, one of which has the templates of these projects. */
export function useCommandProjects(): void {
  beforeAll(async () => {
    service = await startTestService();
    acme = await service.tenant('acc_acme');
    other = await service.tenant('acc_other');
    await makeTemplate(acme, 'gated', [
      phaseSpec('plan', [agentStep('write'), gateStep('approve', 'human', { on_reject: 'rework' })]),
      phaseSpec('article', [agentStep('write')], { depends_on: ['plan'] }),
    ]);
    await makeTemplate(acme, 'two', [
      phaseSpec('plan', [agentStep('write')]),
      phaseSpec('article', [agentStep('write')], { depends_on: ['plan'] }),
    ]);
    await makeTemplate(acme, 'lonely', [phaseSpec('wait', [gateStep('approve', 'human', { on_reject: 'pause' })])]);
    await makeTemplate(acme, 'failing', [
      phaseSpec('plan', [agentStep('write', { instructions: 'Write. [[fail-status:400]]', max_attempts: 1 })]),
    ]);
  });

  afterAll(() => service?.close());
}

export const at = (id: string, path: string) => `/v1/projects/${id}/${path}`;

export const post = (id: string, path: string, body?: unknown, tenant = acme) => tenant.cp('POST', at(id, path), body);

/** Starts a project and waits until a person has to answer its first gate. */
export async function gatedProject() {
  const id = await startProject(acme, 'gated');
  const gate = await untilStep(acme, id, 'plan', 'approve', 'blocked');
  return { id, gate };
}

export async function completedProject(): Promise<string> {
  const id = await startProject(acme, 'two');
  await untilProject(acme, id, 'completed');
  return id;
}
