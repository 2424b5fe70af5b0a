/** What holds for every command that is declared: errors have one shape, whatever is wrong, and what can be watched is. */
import { createServer, type Server } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { first, present } from '../../src/platform/core/present.ts';
import { fieldsOf } from '../../src/platform/core/record.ts';
import { argumentsOf, leavesOf, type Leaf } from '../support/cli/commands.ts';
import { runHere, type Outcome } from '../support/cli/here.ts';
import { endpoints } from '../support/http/endpoints.ts';
import { portOf } from '../support/processes/listening.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

/** They work on this machine's processes, files, secrets and database, with Temporal, or with the control plane itself. */
const LOCAL = [
  ...['start', 'demo', 'doctor', 'completion', 'session', 'backup', 'restore', 'secrets rotate'],
  ...['deployments list', 'deployments set-current', 'deployments ramp'],
  ...['memory re-embed', 'workspaces set-state', 'logout'],
];

const leaves = leavesOf();

let service: TestService;
let tenant: Tenant;
let folder: string;
/** What commands are called with. */
let environment = process.env;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-every-'));
  service = await startTestService();
  tenant = await service.tenant('acc_every_command');
  await tenant.run({ agent: 'writer', prompt: 'Something.' });
  for (const name of ['a-file', 'spec.json']) await writeFile(join(folder, name), '{}');
  await mkdir(join(folder, 'agents'));
  await writeFile(join(folder, 'agents/one.yaml'), 'slug: one\nprompt: You work.\n');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  environment = process.env;
});

const samples = () => ({
  file: join(folder, 'spec.json'),
  files: join(folder, 'a-file'),
  directory: folder,
  'on|off': 'on',
  usd: '1',
  dollars: '1',
  workspace: 'acc_every_command',
  slug: 'blog-post',
});
const call = (leaf: Leaf, ...more: string[]) => {
  const given = { ...samples(), ...(leaf.name.startsWith('workspaces ') && { id: 'acc_every_command' }) };
  return runHere([...leaf.name.split(' '), ...argumentsOf(leaf, given), ...more], environment);
};
const asks = (address: string, session = 'wrong', key = 'svc_pk_wrong') =>
  (environment = { ...process.env, DATA_DIR: folder, AOS_URL: address, AOS_SESSION: session, AOS_API_KEY: key });

/** One line that begins with `error:`; what belongs to it is indented, and advice is in brackets. */
const SHAPE = /^error: \S.*\n(?:(?: {2}.*|\(.*\))\n)*$/;

/** @returns the commands that do not fail in the shape of all errors with what is said here, and what they do instead */
async function othersThan(said: RegExp, some: readonly Leaf[], ...more: string[]) {
  const others: (Outcome & { name: string })[] = [];
  for (const leaf of some) {
    const outcome = await call(leaf, ...(GIVEN[leaf.name] ?? []), ...more);
    const { code, stdout, stderr } = outcome;
    const isAlike = code === 1 && stdout === '' && SHAPE.test(stderr) && said.test(stderr) && !/\n\s+at /.test(stderr);
    if (!isAlike) others.push({ name: leaf.name, ...outcome });
  }
  return others;
}
const remote = leaves.filter(({ name }) => !LOCAL.includes(name));

// Guards: a flag that there is not is refused by each command, in the shape of all errors.
test('a flag that is not known', async () => {
  asks('http://127.0.0.1:9');
  expect(await othersThan(/^error: unknown option '--no-such-flag'\n/, leaves, '--no-such-flag')).toEqual([]);
  expect(leaves.length).toBeGreaterThan(100);
});

// Guards: without a service, each command that needs one says so and how it is started.
test('no service', async () => {
  asks('http://127.0.0.1:9');
  expect(
    await othersThan(
      /^error: the service is not running at http:\/\/127\.0\.0\.1:9: start it with `DATA_DIR=\S+ npm start`/,
      remote,
    ),
  ).toEqual([]);
});

// Guards: a session or key that does not count is told as that, with what to do, by each command that needs one.
test('a credential that does not count', async () => {
  asks(service.baseUrl);
  const needing = remote.filter(({ name }) => !OPEN.includes(name));
  expect(await othersThan(/ does not count: (use `aos login`|set AOS_API_KEY)/, needing)).toEqual([]);
});

/** What a command needs besides its arguments. */
const GIVEN: Readonly<Record<string, string[]>> = {
  'inbox delegate': ['--until', '2099-01-01'],
  'deployments ramp': ['--percent', '1'],
  'project start': ['--brief', 'Something.'],
  'agents create': ['--prompt', 'You work.'],
  'memory create': ['Something.'],
  'memory supersede': ['Something.'],
  'workspaces delete': ['--yes'],
};
/** It asks for a credential. */
const OPEN = ['login'];

describe('lists', () => {
  /** A list is read twice, with a restart in between, then until it is empty, and once more in vain. */
  let front: Server;
  let asked: Map<string, number>;
  beforeAll(async () => {
    asked = new Map();
    front = createServer((request, response) => {
      const times = (asked.get(present(request.url)) ?? 0) + 1;
      asked.set(present(request.url), times);
      const answer = (status: number, text: string) => response.writeHead(status).end(text);
      if (times > 5) answer(500, '{"detail":"that is all"}');
      else if (times === 5) answer(200, '{"data":[]}');
      else if (times === 3) answer(503, '{"detail":"starting"}');
      else if (times === 2) request.socket.destroy();
      else {
        const { cookie = '' } = request.headers;
        void fetch(service.baseUrl + request.url, { headers: { cookie } }).then(async (reply) =>
          answer(reply.status, await reply.text()),
        );
      }
    }).listen(0);
    await once(front, 'listening');
  });
  afterAll(() => {
    front?.close();
  });
  const address = () => `http://127.0.0.1:${portOf(front)}`;

  /** They are watched in their own way, by the stream. */
  const FOLLOWED: Readonly<Record<string, string>> = {
    'inbox list': 'test/cli/following.test.ts',
    'project start': 'test/cli/project.test.ts',
  };
  const watched = leaves.filter(
    ({ name, command }) => command.options.some(({ long }) => long === '--watch') && !(name in FOLLOWED),
  );

  // Guards: a list that is watched is shown again when it has changed, and not otherwise, outlasts a restart of the service, and ends
  // with the error that ends it.
  test('are shown again when they change', async () => {
    asks(address(), tenant.session);
    const shown = await Promise.all(watched.map(async (leaf) => [leaf, await call(leaf, '--watch')] as const));
    let tables = 0;
    for (const [{ name }, { code, stdout, stderr }] of shown) {
      expect({ name, code, stderr }).toEqual({
        name,
        code: 1,
        stderr: expect.stringMatching(/^http:\S+ does not answer; .*\nerror: that is all \(GET \S+\)\n$/),
      });
      // A table, or what is said where there is nothing; then, once, that there is nothing.
      expect([name, stdout]).toEqual([name, expect.stringMatching(/^(?:.*\S.*\n)+\n\S.*\n$/)]);
      if (stdout.split('\n').length > 4) tables++;
    }
    expect(tables).toBeGreaterThan(7);
    expect(shown.length).toBeGreaterThan(15);
  });

  /** Pages of what there is, who else could own a project, and a window that `--from` has too. */
  const NOT_OFFERED = ['offset', 'cursor', 'before', 'owner_kind', 'owner_id', 'since_hours', 'order'];
  /** By what it means: `aos memory search`. */
  const ELSEWHERE: Readonly<Record<string, string[]>> = { 'memory list': ['q'] };

  // Guards: whatever an endpoint narrows its list down by, the command that shows the list has an option for.
  test('have the filters of their endpoints', async () => {
    asks(address(), tenant.session);
    const lists = [...watched, ...leaves.filter(({ name }) => name === 'inbox list' || name === 'search')];
    const missing: [name: string, parameter: string][] = [];
    for (const leaf of lists) {
      asked.clear();
      await call(leaf, ...filtersOf(leaf));
      const urls = [...asked.keys()].map((url) => new URL(url, address()));
      expect([leaf.name, urls.length]).toEqual([leaf.name, 1]);
      const { pathname, searchParams } = first(urls);
      const endpoint = endpoints.find(
        ({ method, path, surface }) =>
          method === 'get' && surface === 'control-plane' && isPathOf(path, pathname.replace('/api/v1/cp', '')),
      );
      const known = Object.keys(fieldsOf(fieldsOf(present(endpoint).query).shape));
      const offered = [...searchParams.keys(), ...NOT_OFFERED, ...(ELSEWHERE[leaf.name] ?? [])];
      missing.push(
        ...known.filter((each) => !offered.includes(each)).map((each): [string, string] => [leaf.name, each]),
      );
    }
    expect(missing).toEqual([]);
  });
});

/** Every option of a list that narrows it down, with a value that it takes. */
const filtersOf = ({ command }: Leaf): string[] =>
  command.options
    .filter(({ long }) => !['--json', '--output', '--watch'].includes(present(long)))
    .flatMap(({ long, required, argChoices }) => {
      const name = present(long);
      return required ? [name, argChoices?.[0] ?? (TIMES.includes(name) ? '2h' : '5')] : [name];
    });
const TIMES = ['--from', '--to'];

const isPathOf = (pattern: string, path: string): boolean =>
  pattern.split('/').length === path.split('/').length &&
  pattern.split('/').every((part, i) => part.startsWith('{') || part === path.split('/')[i]);
