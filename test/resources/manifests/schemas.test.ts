/** The schemas that editors are given: each is one, takes what an export writes, and marks what the service would refuse. */
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MANIFEST_KINDS, type ManifestKind } from '../../../src/resources/manifests/model.ts';
import { call, startTestService, type TestService } from '../../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(async () => service?.close());

const STEP = { step_slug: 'draft', kind: 'agent', assignee: 'writer', skills: ['writing-style'] };

/** What a file of each kind may say at least, and with a variable where it has a secret. */
const RIGHT: Record<ManifestKind, Record<string, unknown>> = {
  tool: {
    slug: 'caller',
    description: 'Calls',
    kind: 'webhook',
    body: { url: 'https://example.com', headers: { Authorization: { env: 'TOKEN' } } },
  },
  skill: { slug: 'style', name: 'Style', body: 'Short.' },
  agent: { slug: 'scribe', prompt: 'You write.' },
  memory: { slug: 'voice', type: 'fact', content: 'We say you.' },
  workflow: { slug: 'report', title: 'Report', phases: [{ slug: 'write', title: 'Write', steps: [STEP] }] },
  job: { name: 'Nightly', cron: '0 3 * * *', agent_slug: 'scribe', brief: 'Sum up.' },
  heartbeat: { name: 'Pulse', agent_slug: 'scribe', prompt: 'News?', interval_s: 60 },
  destination: { name: 'Team', kind: 'slack', config: { webhook_url: { env: 'HOOK' } } },
  webhook: { url: 'https://example.com/hook', secret: { env: 'SIGNING' } },
};

describe.each(MANIFEST_KINDS)('%s', (kind) => {
  // Guards: an editor that completes and checks by the schema agrees with the service, and needs no credential for it.
  test('has a schema', async () => {
    const { status, body } = await call(`${service.baseUrl}/schemas/${kind}.json`, 'GET', {});
    expect(status).toBe(200);
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(body);
    expect([validate(RIGHT[kind]), validate.errors]).toEqual([true, null]);
    expect(validate({ ...RIGHT[kind], surprise: true })).toBe(false);
    const [field = ''] = Object.keys(RIGHT[kind]);
    expect(validate({ ...RIGHT[kind], [field]: undefined })).toBe(false);
    expect(validate({ ...RIGHT[kind], [field]: { env: 'NAME' } })).toBe(false);
  });
});

const Documented = z.object({
  components: z.object({ schemas: z.object({ WorkflowSpec: z.record(z.string(), z.unknown()) }) }),
});
const gated = (gate: object) => ({
  ...RIGHT.workflow,
  phases: [{ slug: 'write', title: 'Write', steps: [STEP, { step_slug: 'ok', kind: 'gate', ...gate }] }],
});

// Guards: an editor and a generated client know what a gate may say, and mark a name that is misspelt.
test.each([
  ['published schema of files', '/schemas/workflow.json', (doc: object) => doc],
  [
    'reference of the control plane',
    '/openapi/control-plane.json',
    (doc: object) => ({
      ...Documented.parse(doc).components.schemas.WorkflowSpec,
      required: ['slug', 'title', 'phases'],
    }),
  ],
])('the %s says what a gate may be configured with', async (_, path, schemaIn) => {
  const { status, body } = await call(`${service.baseUrl}${path}`, 'GET', {});
  expect(status).toBe(200);
  const takes = new Ajv({ strict: false, validateFormats: false }).compile(schemaIn(body));
  const approvers = { members: ['Carl@Example.COM'] };
  for (const [gate_kind, right, wrong] of [
    ['human', { prompt: 'Good?', approvers, quorum: 1 }, { promt: 'Good?' }],
    ['human', { due_in_s: 60, on_timeout: 'reject' }, { due_in_s: 60, on_timeout: 'refuse' }],
    ['webhook', { on_reject: 'rework', expires_in_s: 60 }, { on_reject: 'redo' }],
    ['schedule', { cron: '0 3 * * *' }, { cron: '0 3 * * *', delay_s: 3 }],
    ['pipeline_dep', { project_id: 'other-abcdef' }, { project: 'other-abcdef' }],
  ]) {
    expect([takes(gated({ gate_kind, gate_config: right })), takes.errors]).toEqual([true, null]);
    expect([wrong, takes(gated({ gate_kind, gate_config: wrong }))]).toEqual([wrong, false]);
  }
});
