/** The command line without a service: parsing, messages, exit codes, and what doctor says of a broken machine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findService } from '../../src/cli/client.ts';
import { explainProblem } from '../../src/cli/problems.ts';
import type { CheckResult } from '../../src/cli/findings.ts';
import { executionUrl, formatUsd, sumUsd } from '../../src/cli/timeline.ts';
import { readSession } from '../../src/platform/http/auth.ts';
import { runCli } from '../embedded/service-process.ts';
import { portOf } from '../support/processes/listening.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'aos-cli-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

async function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  return runCli(args, { DATA_DIR: dataDir, ...env });
}

describe('what goes wrong is one clear line and a failing exit code', () => {
  // Guards: the mistakes that people make in the first minute give one line, never a stack.
  test.each([
    ['no service was ever started', ['runs'], {}, 'no service found: start one here with `DATA_DIR='],
    [
      'the service is down',
      ['run', 'assistant', 'Hello'],
      { AOS_URL: 'http://127.0.0.1:9', AOS_API_KEY: 'svc_pk_x' },
      'the service is not running at http://127.0.0.1:9',
    ],
    ['no credential for another service', ['keys'], { AOS_URL: 'http://127.0.0.1:9' }, 'no session for this service'],
    ['no secret to sign with', ['session'], {}, 'no SESSION_SECRET'],
    ['an unknown command', ['rusn'], {}, "error: unknown command 'rusn'"],
    ['a bad option', ['session', '--role', 'king'], {}, 'expects owner, admin or member'],
    ['a bad setting', ['start'], { PORT: 'eighty' }, 'PORT: expects a whole number from 0 to 65535'],
  ])('%s', async (_, args, env, message) => {
    const { code, stdout, stderr } = await run(args, env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

// Guards: what people look for first when something is not as they read it.
test('says its version', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

// Guards: a session for scripts needs only the secret, and no running service.
test('prints a session cookie', async () => {
  const SESSION_SECRET = 'a secret of the test';
  const { code, stdout } = await run(['session', '--workspace', 'acc_acme', '--role', 'admin', '--ttl', '5m'], {
    SESSION_SECRET,
  });
  expect(code).toBe(0);
  expect(readSession(stdout.trim(), SESSION_SECRET)).toMatchObject({ workspace: 'acc_acme', role: 'admin' });
});

// Guards: doctor fails on a broken machine and says of each broken part how to mend it.
test('doctor names what is broken', async () => {
  const taken = createServer().listen(0);
  await once(taken, 'listening');
  const port = String(portOf(taken));
  const file = join(dataDir, 'a-file');
  await writeFile(file, '');
  const { code, stdout } = await run(['doctor', '--json'], {
    PORT: port,
    DATA_DIR: join(file, 'below'),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    TEMPORAL_ADDRESS: '127.0.0.1:9',
  });
  taken.close();
  expect(code).toBe(1);
  const findings = JSON.parse(stdout) as CheckResult[];
  const failed = findings.filter(({ status }) => status === 'failed');
  expect(failed.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['data directory', 'Temporal', 'Postgres', `port ${port}`]),
  );
  expect(failed.every(({ mend }) => mend)).toBe(true);

  const { stdout: text } = await run(['doctor'], { PORT: 'eighty' });
  expect(text).toMatch(/failed +settings +PORT: expects a whole number/);
});

// Guards: help is there for each command, with an example.
test.each([[[]], [['run']], [['runs']], [['keys']], [['session']], [['start']], [['demo']]])(
  '%j has help',
  async (args) => {
    const { code, stdout } = await run([...args, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Example/);
  },
);

// Guards: credentials of the local service are not sent to another one.
test('keeps local credentials local', async () => {
  await writeFile(
    join(dataDir, 'credentials.json'),
    JSON.stringify({
      base_url: 'http://localhost:8080',
      api_key: 'svc_pk_local',
      session_cookie: 'local',
      temporal_ui_url: 'http://localhost:1',
    }),
  );
  expect(await findService({ DATA_DIR: dataDir })).toMatchObject({ apiKey: 'svc_pk_local', session: 'local' });
  expect(await findService({ DATA_DIR: dataDir, AOS_URL: 'https://aos.example/' })).toEqual({
    baseUrl: 'https://aos.example',
    apiKey: undefined,
    session: undefined,
    uiUrl: undefined,
  });
});

// Guards: money is added exactly and printed without needless zeros.
test('adds dollars exactly', () => {
  expect(sumUsd(['0.1', '0.2', null, '0.00000001'])).toBe('0.30000001');
  expect(sumUsd(['12', '0.5'])).toBe('12.50000000');
  expect(formatUsd(sumUsd([]))).toBe('$0');
  expect(formatUsd('10')).toBe('$10');
  expect(formatUsd('0.00030000')).toBe('$0.0003');
});

// Guards: links and error bodies are printed in a readable form.
test('explains replies and links executions', () => {
  expect(explainProblem('{"detail":"not_found"}')).toMatch(/^there is no such thing/);
  expect(explainProblem('{"detail":[{"loc":["body","prompt"],"msg":"required","type":"x"}]}')).toBe(
    'body.prompt: required',
  );
  expect(explainProblem('<html>')).toBe('<html>');
  expect(executionUrl({ uiUrl: 'http://ui' }, '01abc')).toBe('http://ui/namespaces/default/workflows/run-01abc');
  expect(executionUrl({ uiUrl: undefined }, '01abc')).toBeUndefined();
});
