/** The queries of the page for operators, at a service with something for each to find. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { housekeeperId } from '../../src/housekeeper.ts';
import { phaseWorkflowId, projectWorkflowId } from '../../src/resources/projects/model.ts';
import { runWorkflowId } from '../../src/resources/runs/model.ts';
import * as workflows from '../../workflows/index.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { command, gateStep, makeTemplate, phaseSpec, startProject, untilGate } from '../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const PAGE = readFileSync(new URL('../../docs/operate/temporal-ui.md', import.meta.url), 'utf8');
const QUERIES = [...PAGE.matchAll(/^```sql\n([^`]+)\n```$/gm)].map(([, query]) => query ?? '');

let receiver: WebhookReceiver;
let service: TestService;
let tenant: Tenant;
let project: string;
let failed: string;
beforeAll(async () => {
  receiver = await startWebhookReceiver(() => 503);
  const env = { EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_RETRY_INITIAL: '1h' };
  service = await startTestService({ env });
  tenant = await service.tenant(WORKSPACE);
  await tenant.api('POST', '/v1/webhooks', { url: receiver.url, events: ['run.failed'] });
  failed = (await tenant.run({ agent: 'assistant', prompt: '[[fail-status:400]]' })).run_id;
  await makeTemplate(tenant, 'gated', [phaseSpec('only', [gateStep('approve')])]);
  project = await startProject(tenant, 'gated');
  await untilGate(tenant, project, 'only', 'approve');
});
afterAll(async () => {
  await command(tenant, project, 'abandon');
  await service?.close();
  await receiver?.close();
});
const WORKSPACE = 'acc_queried';

/** With the names of this service in the place of those of the page. @returns ids of what is found */
async function found(query: string): Promise<string[]> {
  const own = query
    .replace('acc_internal', WORKSPACE)
    .replace('write-it-down-0833c3', project)
    .replace(/(?<=CloseTime > ")[^"]+/, '2000-01-01T00:00:00Z')
    .replace(/(?<=StartTime < ")[^"]+/, new Date(Date.now() + 3_600_000).toISOString());
  const ids: string[] = [];
  for await (const { workflowId } of service.runtime.temporal.client.workflow.list({ query: own }))
    ids.push(workflowId);
  return ids;
}

// Guards: the store of workflows takes each query of the page as it stands, and finds by it what the page says.
test('find what the page says', async () => {
  const { client } = service.runtime.temporal;
  for (const query of QUERIES) expect((await client.workflow.count(query)).count).toBeGreaterThanOrEqual(0);
  const ofProject = [projectWorkflowId(project), phaseWorkflowId(project, 'only', 1)];
  const expected = [ofProject, [runWorkflowId(failed)], ofProject, ofProject, [expect.stringMatching(/^webhook-/)]];
  expect(QUERIES).toHaveLength(expected.length);
  for (const [n, ids] of expected.entries())
    await eventually(async () => expect(await found(QUERIES[n] ?? '')).toEqual(expect.arrayContaining(ids)));
  expect(await found(QUERIES[3] ?? '')).not.toContain(housekeeperId(service.runtime.config));
});

// Guards: the page names every workflow that can be in the list, and none that there is not.
test('name workflows that there are', () => {
  const rows = [...PAGE.matchAll(/^\| (`[^|]+)\|/gm)].flatMap(([, names]) => [...(names ?? '').matchAll(/`(\w+)`/g)]);
  expect(rows.map(([, name]) => name).sort()).toEqual(Object.keys(workflows).sort());
});
