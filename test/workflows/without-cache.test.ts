/** A worker that keeps no workflow in memory: slower, and nothing else. */
import { expect, test } from '@jest/globals';
import { present } from '../../src/platform/core/present.ts';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  untilGate,
  untilProject,
} from '../support/fixtures/projects.ts';
import { startTestService } from '../support/service/service.ts';

// Guards: while one workflow waits for a local activity, another's task does not push it out of memory, which would
// lose that workflow's own task until it times out.
test('loses no task of several projects at once', async () => {
  const service = await startTestService({ env: { WORKER_MAX_CACHED_WORKFLOWS: '0' } });
  try {
    const acme = await service.tenant('acc_acme');
    await makeTemplate(acme, 'gated', [phaseSpec('text', [agentStep('write'), gateStep('gate'), agentStep('polish')])]);
    const ids = await Promise.all(Array.from({ length: 4 }, () => startProject(acme, 'gated')));
    const gates = await Promise.all(ids.map((id) => untilGate(acme, id, 'text', 'gate')));
    await Promise.all(gates.map((gate) => gate.approve('Fine')));
    await Promise.all(ids.map((id) => untilProject(acme, id, 'completed')));
    const { workflow } = service.runtime.temporal.client;
    for (const workflowId of ids.flatMap((id) => [`project-${id}`, `project-${id}/text/1`])) {
      const { events } = await workflow.getHandle(workflowId).fetchHistory();
      expect(present(events).length).toBeGreaterThan(10);
      expect(present(events).filter((event) => event.workflowTaskTimedOutEventAttributes)).toEqual([]);
    }
  } finally {
    await service.close();
  }
});
