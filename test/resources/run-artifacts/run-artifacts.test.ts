/** /v1/run-artifacts: what runs saved, by run, by agent and by id, and the way to its bytes. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newRunId, newUuid } from '../../../src/platform/core/ids.ts';
import { doBehind } from '../../support/database/locks.ts';
import { tool } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let runId: string;
let otherRunId: string;

const saving = (...filenames: string[]) =>
  filenames.map((filename) => tool('save_artifact', { filename, content: `content of ${filename}` })).join(' ');

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_saver');
  ({ run_id: runId } = await tenant.run({ agent: 'writer', prompt: `Save. ${saving('first.md', 'second.csv')}` }));
  ({ run_id: otherRunId } = await tenant.run({ agent: 'analyst', prompt: `Save. ${saving('third.md')}` }));
});
afterAll(() => service.close());

const list = async (query = '') => (await tenant.cp('GET', `/v1/run-artifacts${query}`)).body;
const names = async (query = '') => (await list(query)).data.map(({ filename }: { filename: string }) => filename);

// Guards: the files of a run are listed completely, and their bytes are where the record says.
test('lists the files of a run', async () => {
  const { data, meta } = await list(`?run_id=${runId}`);
  expect(meta).toEqual({ total: 2, limit: 50, offset: 0 });
  // Two calls of one turn are carried out at once: either may be first.
  const first = data.find(({ filename }: { filename: string }) => filename === 'first.md');
  expect(first).toEqual({
    id: expect.any(String),
    run_id: runId,
    agent: 'writer',
    filename: 'first.md',
    content_type: 'text/markdown',
    size_bytes: 19,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    download_path: `/v1/files/download?id=${first.id}`,
    created_at: expect.any(String),
  });
  expect(await tenant.cp('GET', first.download_path)).toMatchObject({ status: 200, body: 'content of first.md' });
  expect((await tenant.cp('GET', `/v1/run-artifacts/${first.id}`)).body).toEqual(first);
});

// Guards: the workspace's files are listed newest first, in pages and by agent; a run without files is no error.
test('lists the files of the workspace', async () => {
  const all = await names();
  expect([all[0], ...all.slice(1).sort()]).toEqual(['third.md', 'first.md', 'second.csv']);
  expect([...(await names('?limit=2')), ...(await names('?limit=2&offset=2'))]).toEqual(all);
  expect(await names('?agent=analyst')).toEqual(['third.md']);
  expect(await names(`?agent=writer&run_id=${otherRunId}`)).toEqual([]);
  const { run_id: idle } = await tenant.run({ agent: 'writer', prompt: 'Save nothing.' });
  expect(await list(`?run_id=${idle}`)).toEqual({ data: [], meta: { total: 0, limit: 50, offset: 0 } });
});

// Guards: a call that two attempts carry out at one moment leaves one file, of which both tell.
test('saves one file for a call, also for two at once', async () => {
  const { runs } = service.services.stores;
  const artifact = {
    runId,
    customerId: tenant.caller.customerId,
    callId: 'call_9_0',
    filename: 'twice.md',
    contentType: 'text/markdown',
    sizeBytes: 1,
    sha256: 'e3b0',
    fileKey: 'runs/twice',
  };
  const [id, otherId] = [newUuid(), newUuid()];
  const given = await doBehind(
    service.runtime.db,
    () => runs.recordArtifact({ ...artifact, id }),
    () => runs.recordArtifact({ ...artifact, id: otherId }),
  );
  expect(given).toBe(id);
  expect((await list(`?run_id=${runId}`)).meta.total).toBe(3);
});

// Guards: an unknown run or file, well-formed or not, is a 404; a bad page is a 422; neither is a 500.
test.each([
  [`?run_id=${newRunId()}`, 404],
  ['?run_id=%00', 422],
  ['?limit=0', 422],
  ['?limit=501', 422],
  ['?offset=-1', 422],
  [`/${newUuid()}`, 404],
  ['/nonsense', 404],
])('answers %s with %i', async (rest, status) => {
  expect((await tenant.cp('GET', `/v1/run-artifacts${rest}`)).status).toBe(status);
});
