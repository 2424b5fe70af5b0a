/** Texts of tenants and agents on a terminal: they are shown, and nothing in them is obeyed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forTerminal, oneLine } from '../../src/cli/output.ts';
import { last, present } from '../../src/platform/core/present.ts';
import { runCli } from '../embedded/service-process.ts';
import { brokenRules } from '../support/architecture/lint.ts';
import { agentStep, makeTemplate, phaseSpec, startProject, untilProject } from '../support/fixtures/projects.ts';
import { answer, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

/** Clears the screen, sets the title, fills the clipboard (in both spellings), and turns the rest of the line around. */
const HOSTILE = 'a\u001b[2Jb\u001b]0;owned\u0007c\u009d52;c;b3duZWQ=\u009cd\u202ee\rf';
const SHOWN = 'a[2Jb]0;ownedc52;c;b3duZWQ=def';
/** Colours apart, which are ours. */
const OBEYED = /(?!\n)(?!\u001b\[\d+m)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

let service: TestService;
let provider: OpenAiServer;
let tenant: Tenant;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-terminal-'));
  provider = await startOpenAiServer();
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
  tenant = await service.tenant('acc_terminal');
  const agent = { slug: 'hostile', model: 'scripted', prompt: 'You help.', description: HOSTILE };
  expect((await tenant.cp('POST', '/v1/agents', agent)).status).toBe(201);
  provider.otherwise(answer(HOSTILE));
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

/** With colours, as on a terminal. */
async function aos(...args: string[]): Promise<string> {
  const env = { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session, AOS_API_KEY: tenant.apiKey };
  const { stdout, stderr } = await runCli(args, { ...env, FORCE_COLOR: '1' });
  return stdout + stderr;
}

// Guards: control characters in what an agent wrote, or was asked, reach the terminal in none of the ways in which a
// run is shown.
test('of a run', async () => {
  const followed = await aos('run', 'hostile', HOSTILE, '--follow');
  const [, id] = /run +(?:\u001b\[\d+m)*(\w{26})/.exec(followed.replaceAll(/\u001b\[\d+m/g, '')) ?? [];
  for (const shown of [followed, await aos('runs', 'show', present(id)), await aos('runs', 'events', present(id))]) {
    expect(shown).toContain(']0;owned');
    expect(shown).not.toMatch(OBEYED);
  }
  expect(followed).toContain(SHOWN);
  expect(followed).toContain('\u001b[1m');
});

// Guards: the same holds for a project, whose title and brief a tenant wrote.
test('of a project', async () => {
  await makeTemplate(tenant, 'hostile', [phaseSpec('text', [agentStep('write', { assignee: 'hostile' })])]);
  const id = await startProject(tenant, 'hostile', { title: HOSTILE, brief: HOSTILE });
  await untilProject(tenant, id, 'completed');
  const commands = {
    show: [id],
    events: [id],
    watch: [id],
    list: [],
    artifacts: [id, '--out', join(folder, 'made')],
  };
  for (const [command, args] of Object.entries(commands)) {
    const shown = await aos('project', command, ...args);
    expect({ command, shown: shown.length > 50 }).toEqual({ command, shown: true });
    expect({ command, shown }).toEqual({ command, shown: expect.not.stringMatching(OBEYED) });
  }
});

// Guards: programs get the text unchanged.
test('not of JSON, which has it as it is', async () => {
  const shown = await aos('run', 'hostile', 'Hello', '--follow', '--json');
  expect(shown).not.toMatch(OBEYED);
  expect(JSON.parse(last(shown.trim().split('\n')))).toMatchObject({ output: HOSTILE });
});

test('on one line or on several', () => {
  expect(forTerminal(`${HOSTILE}\n\tz`)).toBe(`${SHOWN}\n\tz`);
  expect(oneLine(`\n${HOSTILE}\n\tz`)).not.toMatch(OBEYED);
});

// Guards: there is one way to print, so a new command cannot forget to remove control characters.
test.each(['console.log(text)', 'process.stdout.write(text)', 'process.stderr.write(text)'])(
  '%s is refused in a command',
  async (code) => expect(await brokenRules([code], 'src/cli/runs.ts')).toEqual([['no-restricted-syntax']]),
);
