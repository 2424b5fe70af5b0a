/** The schemas that editors are given: each is one, takes what an export writes, and marks what the service would refuse. */
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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
