/** What a call of unknown price cost is never printed as nothing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runHere } from '../support/cli/here.ts';
import { answer, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let provider: OpenAiServer;
let tenant: Tenant;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-unpriced-'));
  provider = await startOpenAiServer();
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
  tenant = await service.tenant('acc_unpriced');
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

// Guards against: a run whose price nobody knows, shown as one that cost nothing.
test('runs and costs', async () => {
  provider.reset();
  const env = { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session, AOS_API_KEY: tenant.apiKey };
  const printed = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(args, { ...process.env, ...env });
    expect([args, code, stderr]).toEqual([args, 0, '']);
    return stdout;
  };
  provider.script(answer('Done.'));
  const followed = await printed('run', 'assistant', 'Something.', '--follow', '--model', 'scripted');
  const [, id = ''] = /^run +(\S+)$/m.exec(followed) ?? [];
  const outputs = [
    followed,
    await printed('runs'),
    await printed('runs', '--status', 'succeeded'),
    await printed('runs', 'show', id),
    await printed('costs'),
    await printed('costs', '--by', 'model'),
    await printed('costs', 'forecast'),
  ];
  for (const output of outputs) {
    expect(output).toMatch(/unpriced|at least/);
    expect(output).not.toMatch(/\$0(?![.\d])/);
  }
});
