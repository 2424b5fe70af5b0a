/**
 * What a workflow answers later: tools to a run, faults to a plan, archives and deliveries to their reader. None of them
 * tells an id of another workspace from an unknown one, or has anything of another workspace.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { download } from '../resources/exports/download.ts';
import { unpack } from '../support/archives/unpack.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { makeBelongings, makeExport, NOBODYS, type Belongings } from '../support/fixtures/belongings.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const MARK_A = 'mark-of-alba';
const MARK_B = 'mark-of-bora';

let service: TestService;
let receiver: WebhookReceiver;
let alba: Tenant;
let bora: Tenant;
let albas: Belongings;
beforeAll(async () => {
  receiver = await startWebhookReceiver(() => ({ status: 200, body: 'taken' }));
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort } });
  [alba, bora] = [await service.tenant('acc_alba', 'scale'), await service.tenant('acc_bora', 'scale')];
  albas = await makeBelongings(service, alba, receiver, MARK_A);
  await makeBelongings(service, bora, receiver, MARK_B);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** Built-in tools to which a model gives an id or a name of something that a workspace owns. */
const CALLS: readonly [tool: string, args: (named: Belongings) => object][] = [
  ['spawn_run', ({ agentSlug }) => ({ agent: agentSlug, prompt: 'Tell what you know.' })],
  ['load_skill', ({ skillSlug }) => ({ slug: skillSlug })],
  ['read_attachment', ({ attachmentId }) => ({ id: attachmentId })],
  [
    'pipeline_resolve_webhook_gate',
    ({ projectId, subtaskId }) => ({ project_id: projectId, subtask_id: subtaskId, decision: 'approved' }),
  ],
];
/** Numbers are left: each is a part of many texts. */
const withoutIds = (text: string, named: Belongings): string =>
  Object.values(named)
    .filter((id) => typeof id === 'string')
    .sort((one, other) => other.length - one.length)
    .reduce((told, id) => told.replaceAll(id, '<id>'), text);
const answersOfTools = (output: unknown): string =>
  String(output)
    .split('\n')
    .filter((line) => line.startsWith('- A tool answered'))
    .join('\n');

// Guards against: a run whose tools say whether another workspace has something.
test.each(CALLS)('%s answers a run as for an unknown id', async (tool, args) => {
  const slug = `later-${tool.replaceAll('_', '-')}`;
  const agent = { slug, model: 'auto', prompt: 'Of bora.', allowed_tools: [tool] };
  expect((await bora.cp('POST', '/v1/agents', agent)).status).toBe(201);
  const outputs: string[] = [];
  for (const named of [albas, NOBODYS]) {
    const prompt = `Look. [[tool:${tool} ${JSON.stringify(args(named))}]]`;
    const { output } = await bora.run({ agent: slug, prompt });
    outputs.push(withoutIds(answersOfTools(output), named));
  }
  expect(outputs[0]).toContain('error');
  expect(outputs[0]).not.toContain(MARK_A);
  expect(outputs[0]).toBe(outputs[1]);
});

// Guards against: a plan that knows names of another workspace, or proposes one.
test('a plan has the same faults for names of another workspace', async () => {
  const faults: string[] = [];
  for (const named of [albas, NOBODYS]) {
    const content = { slug: 'later', prompt: 'Of bora.', allowed_tools: [named.toolSlug, `${named.toolSlug}x`] };
    const { status, body } = await bora.cp('POST', '/v1/manifests/plan', { manifests: [{ kind: 'agent', content }] });
    expect(status).toBe(422);
    faults.push(withoutIds(JSON.stringify(body), named));
  }
  expect(faults[0]).toContain('there is no tool');
  expect(faults[0]).toBe(faults[1]);
});

// Guards against: an archive or a delivery with something of another workspace, whatever runs have asked for.
test('archives and deliveries have what is of their workspace', async () => {
  const textOf = async (tenant: Tenant): Promise<string> => {
    const files = await unpack(await download(service, tenant, await makeExport(tenant)));
    return [...files.values()].map((bytes) => bytes.toString('latin1')).join('\n');
  };
  const [boras, own] = [await textOf(bora), await textOf(alba)];
  expect(own).toContain(`${MARK_A} prompt`);
  expect(own).not.toContain(MARK_B);
  expect(boras).toContain(`${MARK_B} prompt`);
  expect(boras).not.toContain(`${MARK_A} `);
  const heard = receiver.received.filter(({ path }) => path.endsWith(MARK_B)).map(({ body }) => body);
  expect(heard.length).toBeGreaterThan(0);
  // Its runs have named what they asked for, and were told no more.
  expect(withoutIds(heard.join(), albas)).not.toContain(MARK_A);
});
