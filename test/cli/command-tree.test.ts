/** What holds for the whole tree of commands: one set of verbs, misspelt words, options of their own, files in JSON and YAML. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { completionOf } from '../../src/cli/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { VERBS } from '../../src/cli/verbs.ts';
import { present } from '../../src/platform/core/present.ts';
import { argumentsOf, leavesOf } from '../support/cli/commands.ts';
import { runHere } from '../support/cli/here.ts';
import { portOf } from '../support/processes/listening.ts';

const SOURCES = join(import.meta.dirname, '../../src/cli');
const program = createProgram();
const leaves = leavesOf(program);
const groups = program.commands.filter(({ commands }) => commands.length > 0);

/** @returns the command that these words name, by its own name or by another word */
const find = (words: readonly string[]): Command | undefined =>
  words.reduce<Command | undefined>(
    (command, word) => command?.commands.find((one) => [one.name(), ...one.aliases()].includes(word)),
    program,
  );

// Guards against: an option of `aos` itself that takes the place of what a command was asked for.
test('an option of aos is none of a command', async () => {
  const answered = [];
  for (const leaf of leaves) {
    for (const option of program.options.flatMap(({ long, short }) => [present(long), present(short)])) {
      const fresh = createProgram();
      const words = leaf.name.split(' ');
      const command = present(leavesOf(fresh).find(({ name }) => name === leaf.name)).command;
      for (const one of [fresh, command]) one.configureOutput({ writeOut: () => {}, writeErr: () => {} });
      command.exitOverride().action(() => {});
      const code = await fresh.parseAsync([...words, ...argumentsOf(leaf), option, '1'], { from: 'user' }).then(
        () => 'ran',
        (error: { code: string }) => error.code,
      );
      const isOwn = command.options.some(({ long, short }) => [long, short].includes(option));
      if (code === 'commander.version' || (isOwn && code !== 'ran')) answered.push([leaf.name, option, code]);
    }
  }
  expect(answered).toEqual([]);
});

describe('a word that names no command', () => {
  const env = { ...process.env, AOS_URL: 'http://127.0.0.1:9', AOS_SESSION: 'none' };

  // Guards against: a misspelt command that is taken for an argument of the group's usual command.
  test.each(['', ...groups.map((group) => group.name())])('aos %s', async (name) => {
    const group = name === '' ? [] : [name];
    const { commands } = present(find(group));
    for (const word of [...commands.map((command) => `${command.name()}x`), 'qqqqqqqq']) {
      const { code, stdout, stderr } = await runHere([...group, word, 'one', '--two'], env);
      const [told, near] = stderr.split('\n');
      expect([word, code, stdout, told]).toEqual([word, 1, '', `error: unknown command '${word}'`]);
      expect([word, near]).toEqual([
        word,
        word === 'qqqqqqqq'
          ? '(aos --help lists the commands)'
          : expect.stringMatching(new RegExp(`^\\(Did you mean .*\\b${word.slice(0, -1)}`)),
      ]);
    }
  });
});

describe('verbs', () => {
  /** These words mean something else there. */
  const OTHERS: Readonly<Record<string, string>> = {
    'project edit': 'a planner proposes the changes',
  };

  // Guards against: a group that calls a verb by a word of its own.
  test('are the same in each group', () => {
    const strange = leaves.filter(({ name }) => {
      const verb = present(name.split(' ').at(-1));
      return Object.values({ ...VERBS, more: ['revoke', 'rename', 'archive'] }).some((words) => words.includes(verb));
    });
    expect(strange.map(({ name }) => name)).toEqual(Object.keys(OTHERS));
  });

  // Guards: what commands were called before goes on working.
  test.each([
    ['agents', { add: 'create', edit: 'update' }],
    ['workflows', { add: 'create', archive: 'delete' }],
    ['chat', { new: 'create', rename: 'update' }],
    ['memory', { add: 'create', edit: 'update' }],
    ['skills', { add: 'create', edit: 'update' }],
    ['tools', { add: 'create', edit: 'update' }],
    ['members', { add: 'create', role: 'update', remove: 'delete' }],
    ['webhooks', { add: 'create' }],
    ['outputs', { add: 'create', edit: 'update' }],
    ['jobs', { change: 'update' }],
    ['keys', { revoke: 'delete' }],
    ['tokens', { revoke: 'delete' }],
    ['workspaces', { 'remove-export': 'delete-export' }],
    ['projects', { create: 'start' }],
  ])('%s', (group, words) => {
    for (const [word, name] of Object.entries(words)) expect([word, find([group, word])?.name()]).toEqual([word, name]);
  });

  // Guards against: a hint or an example that names a command which is not there, or by another word than its own.
  test('are those of hints and examples', async () => {
    const strange: string[] = [];
    let count = 0;
    for (const file of (await readdir(SOURCES, { recursive: true })).filter((name) => name.endsWith('.ts'))) {
      for (const [, group, verb] of (await readFile(join(SOURCES, file), 'utf8')).matchAll(
        /\baos ([a-z]+) ([a-z][a-z-]+)\b/g,
      )) {
        const parent = groups.find((one) => [one.name(), ...one.aliases()].includes(present(group)));
        if (!parent) continue;
        count++;
        if (!parent.commands.some((one) => one.name() === verb)) strange.push(`${file}: aos ${group} ${verb}`);
      }
    }
    expect(strange).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });
});

describe('files', () => {
  /** How each command takes the file of an argument or option: the fields of a thing, a text, or bytes. */
  const KINDS: Readonly<Record<string, 'fields' | 'text' | 'bytes' | 'written'>> = {
    'demo --out': 'written',
    'project start --brief-file': 'text',
    'project artifacts --out': 'written',
    'project attach files': 'bytes',
    'agents create --file': 'text',
    'agents update --file': 'text',
    'workflows create file': 'fields',
    'plan --out': 'written',
    'apply --plan': 'fields',
    'chat say --file': 'bytes',
    'memory create --file': 'text',
    'memory update --file': 'text',
    'memory supersede --file': 'text',
    'skills create --file': 'text',
    'skills update --file': 'text',
    'tools create --file': 'fields',
    'tools create --script': 'text',
    'tools create --html': 'text',
    'tools update --file': 'fields',
    'tools update --script': 'text',
    'tools update --html': 'text',
    'workspaces delete --export': 'written',
    'workspaces export --output': 'written',
    'outputs create file': 'fields',
    'outputs update file': 'fields',
    'jobs create --file': 'text',
    'jobs create --schema': 'fields',
    'jobs update --schema': 'fields',
    'run --schema': 'fields',
    'jobs update --file': 'text',
    'jobs attach files': 'bytes',
    'backup file': 'written',
    'restore file': 'bytes',
  };
  const isFile = (word: string): boolean => /<(files?|path|folder)\b/.test(word);
  const found = leaves.flatMap(({ name, command }) => [
    ...command.registeredArguments
      .filter((argument) => isFile(`<${argument.name()}`))
      .map((argument) => `${name} ${argument.name()}`),
    ...command.options
      .filter(({ flags, long }) => isFile(flags) && long !== '--data-dir')
      .map(({ long }) => `${name} ${long}`),
  ]);

  let folder: string;
  let front: Server;
  let sent: unknown[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-tree-'));
    await mkdir(join(folder, 'agents'));
    await writeFile(join(folder, 'agents/one.yaml'), 'slug: one\nprompt: You work.\n');
    front = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.method !== 'GET') sent.push([request.method, request.url, JSON.parse(body)]);
        response.end(
          '{"slug":"it","name":"it","id":"it","changes":[],"left":[],"warnings":[],"is_builtin":false,"body":{}}',
        );
      });
    }).listen(0);
    await once(front, 'listening');
  });
  afterAll(async () => {
    front?.close();
    await rm(folder, { recursive: true, force: true });
  });

  // Guards against: a new command with a file that nobody thought about here.
  test('are known', () => expect(found.sort()).toEqual(Object.keys(KINDS).sort()));

  // Guards: the fields of a thing are taken as JSON and as YAML, and what is neither is told in a line.
  test.each(Object.keys(KINDS).filter((name) => KINDS[name] === 'fields'))('%s', async (name) => {
    const words = name.split(' ');
    const place = present(words.pop());
    const leaf = present(leaves.find((one) => one.name === words.join(' ')));
    const env = {
      ...process.env,
      DATA_DIR: folder,
      AOS_URL: `http://127.0.0.1:${portOf(front)}`,
      AOS_SESSION: 'some',
      AOS_API_KEY: 'some',
    };
    const given = async (content: string) => {
      const file = join(folder, 'given');
      await writeFile(file, content);
      sent = [];
      const option = place.startsWith('--') ? [place, file, ...(name.startsWith('apply') ? ['--yes'] : [])] : [];
      const outcome = await runHere([...words, ...argumentsOf(leaf, { file, directory: folder }), ...option], env);
      return { ...outcome, sent };
    };
    const json = await given('{"slug":"it","state":"known","schema":{"type":"object"},"body":{"result":"12:30"}}');
    expect([json.code, json.stderr, json.sent.length]).toEqual([0, '', 1]);
    const yaml = await given('# It.\nslug: it\nstate: known\nschema: { type: object }\nbody:\n  result: "12:30"\n');
    expect(yaml).toEqual(json);
    for (const broken of ['{"slug":', 'slug: [', 'only words', '[]']) {
      expect(await given(broken)).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^error: \S+given (is neither JSON nor YAML: .+|has no fields: .+)\n$/),
        sent: [],
      });
    }
  });
});

// Guards against: another word for a group or a command, behind which a shell completes nothing, or something else.
test('completion behind every other word', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'aos-words-'));
  const file = join(folder, 'words.bash');
  const walk = (command: Command, names: string, words: string): [string, string][] =>
    command.commands.flatMap((one) => {
      const [name, ...others] = [one.name(), ...one.aliases()];
      const own = `${names} ${name}`.trim();
      return [name, ...others].flatMap((word) => {
        const said = `${words} ${word}`.trim();
        const pair: [string, string] = [own, said];
        return [...(said === own ? [] : [pair]), ...walk(one, own, said)];
      });
    });
  const pairs = walk(program, '', '');
  const asked = pairs.map(
    ([own, said]) =>
      `[ "$(_aos_words '${own}')" = "$(_aos_words '${said}')" ] && [ -n "$(_aos_words '${said}')" ] || echo '${said}'`,
  );
  await writeFile(file, [completionOf(program, 'bash'), ...asked].join('\n'));
  expect(pairs.length).toBeGreaterThan(40);
  const { stdout } = await promisify(execFile)('bash', [file]).finally(() => rm(folder, { recursive: true }));
  expect(stdout).toBe('');
});
