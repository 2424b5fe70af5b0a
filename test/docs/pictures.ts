/**
 * `npm run docs:pictures`: the pictures of `docs/guide/console.md`, of the service that `npm start` runs. It starts a few runs and
 * a project there, which waits for its approval. The pictures of the first deeds are those of the test that does them.
 */
import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readCredentials } from '../../src/embedded/credentials.ts';
import { launchBrowser } from '../support/programs/chromium.ts';
import { call, eventually } from '../support/service/service.ts';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const credentials = await readCredentials(process.env.DATA_DIR || '.data');
if (!credentials?.base_url) throw new Error('no service runs here: start one with npm start, on an empty DATA_DIR');
const { base_url: baseUrl, session_cookie: session } = credentials;

const ask = async (method: string, path: string, body?: unknown) => {
  const { status, body: reply } = await call(
    `${baseUrl}/api/v1/cp${path}`,
    method,
    { cookie: `service_session=${session}` },
    body,
  );
  if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(reply)}`);
  return reply;
};

const { workflows, prompts } = await ask('GET', '/v1/samples');
const bySlug = (wanted: string) => prompts.find(({ slug }: { slug: string }) => slug === wanted);
const start = ({ agent, prompt }: { agent: string; prompt: string }) => ask('POST', '/v1/runs', { agent, prompt });
const { run_id: runId } = await start(bySlug('pays-for-itself'));
await start(bySlug('a-longer-text'));
await start(bySlug('hand-over'));
await start(bySlug('remember-this'));
await ask('POST', '/v1/runs', { agent: 'writer', prompt: 'A novel', override: { cost_budget_usd: '0.000001' } });
await ask('POST', '/v1/runs', { agent: 'researcher', prompt: 'Compare three databases [[sleep:120000]]' });
function sampleOf(workflow: string) {
  const { title, brief, params } = workflows.find((sample: { workflow: string }) => sample.workflow === workflow);
  return { workflow_slug: workflow, title, brief, params };
}
const { id: projectId } = await ask('POST', '/v1/projects', {
  ...sampleOf('blog-post'),
  cost_budget_usd: '2',
});
await ask('POST', '/v1/projects', sampleOf('childrens-book'));
await ask('POST', '/v1/projects', sampleOf('sticker-pack'));
await eventually(async () => {
  const { data } = await ask('GET', `/v1/projects/${projectId}/tasks`);
  if (!data.some(({ status }: { status: string }) => status === 'blocked')) throw new Error('waits for nobody yet');
});

const browser = await launchBrowser();
const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, colorScheme: 'light' });
await context.addCookies([{ name: 'service_session', value: session, url: baseUrl }]);
const tab = await context.newPage();
await mkdir(FOLDER, { recursive: true });

async function picture(name: string, path: string, shown: string) {
  await tab.goto(`${baseUrl}/console${path}`);
  await tab.getByText(shown).first().waitFor();
  await tab.screenshot({ path: `${FOLDER}console-${name}.png` });
}
await picture('runs', '/runs', 'That is all');
const { data: events } = await ask('GET', `/v1/runs/${runId}/timeline`);
const call1 = events.find(({ event_type: type }: { event_type: string }) => type === 'tool_call');
await picture('run', `/runs/${runId}?tab=timeline&event=${call1.id}`, 'result_preview');
await picture('project', `/projects/${projectId}`, 'What it is about');
const { data: waits } = await ask('GET', `/v1/inbox?project_id=${projectId}`);
await picture('inbox', `/inbox/${waits[0].id}`, 'What it is about');
await picture('costs', '/costs', 'Tokens in, out');
await picture('health', '/health', 'workers');
await picture('integrations', '/workspace?tab=integrations&id=anthropic', 'API key');
await browser.close();
execFileSync('npm', ['test', '--', 'test/console/done-when'], {
  stdio: 'inherit',
  env: { ...process.env, PICTURES: FOLDER },
});
