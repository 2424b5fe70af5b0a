import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agentStep, gateStep, makeTemplate, phaseSpec, startProject, untilGate, untilProject } from '../support/projects.ts';
import { startTestService, type Tenant, type TestService } from '../support/service.ts';
let service: TestService; let acme: Tenant;
beforeAll(async () => { service = await startTestService(); acme = await service.tenant('acc_acme'); });
afterAll(() => service.close());
test.each([['json/plain', 'not json'], ['json/protobuf', '{}'], ['', 'x']])('%s', async (encoding, data) => {
  const slug = `s${Math.random().toString(36).slice(2)}`;
  await makeTemplate(acme, slug, [phaseSpec('text', [agentStep('write'), gateStep('gate'), agentStep('polish')])]);
  const id = await startProject(acme, slug);
  const gate = await untilGate(acme, id, 'text', 'gate');
  const { client } = service.runtime.temporal;
  await client.workflowService.signalWorkflowExecution({
    namespace: client.options.namespace, workflowExecution: { workflowId: `project-${id}` }, signalName: 'resolveGate',
    input: { payloads: [{ metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }] },
  });
  const a = await gate.approve();
  console.log(encoding, a.status, a.body);
  await untilProject(acme, id, 'completed', 10000);
});
