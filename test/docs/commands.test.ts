/** What the pages show is said to be run, or why it is not; and whatever it is, its commands are those that there are. */
import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram } from '../../src/cli/program.ts';
import { present } from '../../src/platform/core/present.ts';
import { blocksOf, commandsOf, pages, ROOT } from './blocks.ts';
import { patternOf } from './shell.ts';

/** `aos ...` with its words, to the end of the command. Quotes are taken off; what is behind `|`, `;` or `#` is not its. */
function callsOfAos(text: string): string[][] {
  const joined = text.replace(/\\\n/g, ' ');
  return [...joined.matchAll(/(?:^|[ (])(?:npx|exec) aos ((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'|;#\n)])*)/gm)].map(
    ([, rest]) =>
      [...present(rest).matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g)]
        .map(([word]) => word.replace(/(["'])((?:\\.|(?!\1).)*)\1/g, '$2'))
        .filter((word) => !/^(?:[>&]|\d>)/.test(word)),
  );
}

/** @returns what is wrong with the call, as the command line would say it; nothing is done */
async function faultOf(words: readonly string[]): Promise<string | undefined> {
  const program = createProgram();
  const silence = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (command.commands.length === 0) command.action(() => {});
    for (const one of command.commands) silence(one);
  };
  silence(program);
  return program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    ({ code, message }: Error & { code?: string }) => (code === 'commander.helpDisplayed' ? undefined : message),
  );
}

/** `billing topup` of `billing topup 25 --currency USD`; each word as it stands, or as `naming` says. */
function nameOf(words: readonly string[], naming?: (command: Command) => string): string[] {
  let command = createProgram();
  const name = [];
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!next) break;
    name.push(naming?.(next) ?? word);
    command = next;
  }
  return name;
}

/** Where commands write to; an archive and `npm install` without a folder of their own are written here. */
function writtenIn(text: string): string[] {
  const shown = text.replace(/'[^']*'/g, (quoted) => (quoted.includes('\n') || quoted.includes('>') ? "''" : quoted));
  const targets =
    /(?:[^\w>=-]>{1,2}|\s--(?:out|output|export|prefix|file=?|pack-destination)(?: |(?<==)))\s*"?([^\s"<]+)/g;
  const commands = /\b(?:mkdir -p|aos export|aos backup|tee) ([^\s;|&]+)/g;
  const here =
    /\bnpm (?:pack|install|i|init)\b(?!.*--(?:prefix|pack-destination) )|\baos workspaces export\b(?!.*--output)/g;
  return [...shown.matchAll(targets), ...shown.matchAll(commands), ...shown.matchAll(here)].map(
    ([all, path]) => path ?? all,
  );
}

describe.each(pages())('$path', ({ blocks }) => {
  // Guards against: a page that shows a command which is gone or has another name now, or an option that it does not take.
  test('its commands of aos', async () => {
    for (const words of blocks.flatMap(({ text }) => callsOfAos(text))) {
      expect([words.join(' '), await faultOf(words)]).toEqual([words.join(' '), undefined]);
      expect(nameOf(words)).toEqual(nameOf(words, (command) => command.name()));
    }
  });

  // Guards against: a command that neither this page's test nor the test that the page names runs.
  test('its commands that others run', () => {
    for (const { notRun, text } of blocks.filter((block) => block.notRun !== undefined)) {
      const tests = [...present(notRun).matchAll(/\btest\/[\w./-]*\.ts\b/g)].map(([path]) =>
        readFileSync(join(ROOT, path), 'utf8'),
      );
      for (const name of callsOfAos(text).map((words) => nameOf(words))) {
        const isRun = tests.some((source) => name.every((word) => source.includes(`'${word}'`)));
        expect([name.join(' '), isRun]).toEqual([name.join(' '), true]);
      }
    }
  });

  // Guards against: a page whose commands, run by its test or not, leave a file in the repository or change its package.json.
  test('its files', () => {
    for (const { text } of blocks)
      expect(writtenIn(text).filter((path) => !/^(?:\.\.\/|[/~$&]|\d)/.test(path))).toEqual([]);
  });

  // Guards: tests that a page names in the place of a run, or tells readers to run, exist.
  test('its tests', () => {
    for (const { notRun = '', text } of blocks) {
      for (const [path] of `${notRun}\n${text}`.matchAll(/\btest\/[\w./-]*\w/g))
        expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    }
  });
});

// Guards against: a command line that is judged by a rule which lets everything through.
test('what is wrong with a command', async () => {
  expect(callsOfAos('# x\nnpx aos run assistant "What | is" --follow | head  # aos gone')).toEqual([
    ['run', 'assistant', 'What | is', '--follow'],
  ]);
  expect(await faultOf(['run', 'assistant', 'x', '--follow'])).toBeUndefined();
  expect(await faultOf(['gone'])).toContain("unknown command 'gone'");
  expect(await faultOf(['project', 'revert', 'p', 'phase'])).toContain("missing required argument 'version'");
  expect(await faultOf(['runs', '--gone'])).toContain("unknown option '--gone'");
});

// Guards against: a block that is neither run nor says why, by whatever name or misspelling.
test.each([
  ['', 'does not say its language'],
  ['bash', 'is to be sh or console'],
  ['sh not-run="no"', 'does not say why'],
  ['sh norun="a reason that is long"', 'has "norun"'],
  ['sh not-run=a reason', 'has "not-run=a reason"'],
])('```%s', (info, message) => {
  expect(() => blocksOf(`\`\`\`${info}\nls\n\`\`\``, 'a page')).toThrow(message);
});

// Guards: the check recognises blocks of commands and their output, and ignores other languages.
test('blocks', () => {
  const markdown =
    '```sh shows="a|b c"\nls\n```\n\n```json\n{}\n```\n\n- in a list\n\n  ```console\n  $ one \\\n    two\n  out\n  ```\n';
  const [sh, shown, ...others] = blocksOf(markdown, 'a page');
  expect(others).toEqual([]);
  expect(sh).toEqual({ language: 'sh', text: 'ls', shows: ['a', 'b c'], notRun: undefined });
  expect(commandsOf(present(shown))).toEqual([{ command: 'one \\\n  two', output: ['out'] }]);
});

// Guards: a transcript is compared in all parts that are the same each time, and the changing parts are recognised.
test('lines of a transcript', () => {
  const { pattern, ids } = patternOf('status of a-title-0a1b2c  $0.0020 (0.1%)');
  expect(ids).toEqual(['a-title-0a1b2c']);
  expect(pattern.exec('status of a-title-ffffff    $0.1 (12%)')?.[1]).toBe('a-title-ffffff');
  expect(pattern.test('status of a-title-ffffff  $0.1 (12)')).toBe(false);
});
