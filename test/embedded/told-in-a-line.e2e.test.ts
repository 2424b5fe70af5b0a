/** What keeps a part of the service from starting is one line, on whatever Node of the machine it is begun. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { inherited } from '../support/processes/inherited.ts';
import { portOf } from '../support/processes/listening.ts';
import { TEST_SECRETS } from '../support/service/service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PARTS = ['bin/api.mjs', 'bin/worker.mjs', 'bin/migrate.mjs'] as const;

let folder: string;
let database: TestDatabase;
let taken: Server;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'aos-told-'));
  database = await openTestDatabase();
  taken = createServer().listen(0);
  await once(taken, 'listening');
});
afterAll(async () => {
  taken?.close();
  await database?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(command: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: {
      ...inherited(),
      ...TEST_SECRETS,
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: String(database.poolSize),
      TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = await once(child, 'close');
  return { code: code as number | null, stderr };
}
const start = (part: string, env: Record<string, string>) => run([join(ROOT, part)], env);

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const SETTINGS: [what: string, env: () => Record<string, string>, told: RegExp][] = [
  [
    'an address without http',
    () => ({ BASE_URL: 'localhost:8116' }),
    /^BASE_URL: expects an address with http:\/\/.*\n$/,
  ],
  [
    'an address with a path',
    () => ({ BASE_URL: 'https://example.com/aos' }),
    /^BASE_URL: expects an address without a path, such as https:\/\/example\.com: .*\n$/,
  ],
  ['no price file', () => ({ MODEL_PRICES: '/nowhere' }), /^MODEL_PRICES: the file \/nowhere cannot be read .*\n$/],
  [
    'a price file that is no JSON',
    () => ({ MODEL_PRICES: file('no.json', '{\n"a\nb') }),
    /^MODEL_PRICES: .*not valid JSON\n$/,
  ],
  [
    'a wrong price',
    () => ({ MODEL_PRICES: file('dear.json', '{"m": {"input_usd_per_mtok": "x"}}') }),
    /^MODEL_PRICES: .*: m: input_usd_per_mtok: expects .*\nMODEL_PRICES: .*: m: output_usd_per_mtok: expects .*\n$/,
  ],
  ['MCP servers that are no JSON', () => ({ MCP_SERVERS: '{' }), /^MCP_SERVERS: is not valid JSON\n$/],
  ['a wrong MCP server', () => ({ MCP_SERVERS: '{"a": {"url": "localhost:1"}}' }), /^MCP_SERVERS: a: .*\n$/],
  [
    'vectors of another size',
    () => ({ EMBEDDING_DIMENSIONS: '1536' }),
    /^EMBEDDING_DIMENSIONS: is 1536, but .* 512 numbers; .*\n$/,
  ],
  [
    'a model that is not the packaged one',
    () => ({ EMBEDDING_MODEL: 'other' }),
    /^EMBEDDING_MODEL: is other, but .*\n$/,
  ],
  [
    'no database, and no Temporal either',
    () => ({ DATABASE_URL: database.url.replace(/\/[^/]*$/, '/nosuch'), TEMPORAL_ADDRESS: '127.0.0.1:1' }),
    /^DATABASE_URL: there is no database nosuch; .*\n$/,
  ],
];
const STARTS = SETTINGS.flatMap(([what, ...rest]) => PARTS.map((part) => [`${part}: ${what}`, part, ...rest] as const));

// Guards: each part says what is wrong with a setting, a file that it names, or the database, in lines of one form and without a stack.
test.each(STARTS)('%s', async (_, part, env, told) => {
  expect(await start(part, env())).toEqual({ code: 1, stderr: expect.stringMatching(told) });
});

// Guards: the same of a port that somebody has, whichever setting names it.
test.each([
  ['bin/api.mjs', 'METRICS_PORT'],
  ['bin/worker.mjs', 'METRICS_PORT'],
  ['bin/api.mjs', 'CONTROL_PLANE_PORT'],
  ['bin/api.mjs', 'PORT'],
])('%s: a %s that is taken', async (part, setting) => {
  const port = portOf(taken);
  const env = {
    PORT: '0',
    CONTROL_PLANE_PORT: '0',
    METRICS_HOST: '0.0.0.0',
    CONTROL_PLANE_HOST: '0.0.0.0',
    [setting]: String(port),
  };
  const line = `${setting}: port ${port} is in use; set ${setting} to another (0 takes any free one)\n`;
  expect(await start(part, env)).toEqual({ code: 1, stderr: line });
});

// Guards: a part begun on a Node that cannot run it runs on the pinned one, or says which one it needs.
test.each(PARTS)('%s on any Node', async (part) => {
  const root = mkdtempSync(join(tmpdir(), 'aos-parts-'));
  for (const path of ['bin', 'package.json', 'src/embedded', 'src/quick-imports.mjs'])
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  const old = [
    '--import',
    `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`,
  ];
  const begin = () => run([...old, join(root, part)], { NODE_OPTIONS: '' });
  const pinned = /"node": "([\d.]+)"/.exec(readFileSync(join(ROOT, 'package.json'), 'utf8'))?.[1];
  expect(await begin()).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(`^Node 20\\.20\\.2 is too old for src/\\w+\\.ts: run \`npm run setup\`.*Node ${pinned} or newer\\n$`),
    ),
  });
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
  writeFileSync(join(root, 'node_modules/.bin/node'), '#!/bin/sh\necho "pinned: $*" >&2\n', { mode: 0o755 });
  expect(await begin()).toEqual({ code: 0, stderr: expect.stringMatching(/^pinned: \S+src\/\w+\.ts\n$/) });
  rmSync(root, { recursive: true });
});
