/** The Dockerfile: pinned, without root, and naming only what the build context has. */
import { expect, test } from '@jest/globals';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { quickStart } from '../../src/embedded/quick-start.mjs';
import { settings } from '../../src/platform/core/settings.ts';
import { itemAt, present } from '../../src/platform/core/present.ts';

const fileAt = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(fileAt(path), 'utf8');
const dockerfile = DockerfileParser.parse(read('Dockerfile'));
const manifest = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>;
  scripts: Record<string, string>;
};
const instructions = dockerfile.getInstructions();
const argumentsOf = (instruction: Instruction) => instruction.getArguments().map((argument) => argument.getValue());
/** In the stage that becomes the image. */
const last = (keyword: string): string[] =>
  argumentsOf(present(instructions.findLast((i) => i.getKeyword() === keyword)));

// Guards: the image runs the Node that the project is tested with, on a system that does not change by itself.
test('base images are pinned', () => {
  const images = dockerfile.getFROMs().map((from) => from.getImage());
  expect(new Set(images)).toEqual(new Set([`node:${manifest.dependencies.node}-bookworm-slim`, 'dependencies']));
});

// Guards: the process in the image is not root, and no development tools are there for an attacker.
test('runs without root and without development packages', () => {
  expect(last('USER')).toEqual(['node']);
  const runs = instructions.filter((i) => i.getKeyword() === 'RUN').map((i) => i.getArgumentsContent());
  expect(runs).toContain('npm ci --omit=dev --ignore-scripts');
  // The console needs them to be built, in a stage that leaves nothing but its files.
  const stages = dockerfile.getFROMs().map((from) => from.getBuildStage() ?? '');
  const withDevelopment = instructions
    .filter((i) => i.getKeyword() === 'RUN' && /^npm ci(?!.*--omit=dev)/.test(i.getArgumentsContent() ?? ''))
    .map(
      (i) =>
        stages[dockerfile.getFROMs().filter((from) => from.getRange().start.line < i.getRange().start.line).length - 1],
    );
  expect(withDevelopment).toEqual(['console']);
  const fromConsole = dockerfile
    .getCOPYs()
    .filter((copy) => copy.getFlags().some((flag) => flag.getValue() === 'console'));
  expect(fromConsole.map(argumentsOf)).toEqual([['/app/.cache/console', '.cache/console']]);
});

// Guards: everything that is copied is in the repository and gets past .dockerignore.
test('copies what is there', () => {
  const admitted = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const copied = dockerfile
    .getCOPYs()
    .filter((copy) => !copy.getFlags().some((flag) => flag.getName() === 'from'))
    .flatMap((copy) => argumentsOf(copy).slice(0, -1));
  expect(new Set(copied)).toEqual(new Set(admitted));
  expect(copied.filter((path) => !existsSync(fileAt(path)))).toEqual([]);
});

// Guards: secrets and local data are left out by default.
test('the build context is a list of what goes in', () => {
  expect(
    read('.dockerignore')
      .split('\n')
      .filter((line) => line && !/^[#!]/.test(line)),
  ).toEqual(['*']);
});

// Guards: the command of the image starts a file that exists, with settings that are read.
test('command and environment', () => {
  const command = JSON.parse(last('CMD').join(' ')) as string[];
  expect(command).toEqual(['node', 'src/api.ts']);
  expect(existsSync(fileAt(itemAt(command, 1)))).toBe(true);
  const names = dockerfile.getENVs().flatMap((env) => env.getProperties().map((property) => property.getName()));
  // The others are read by Node itself, and by glibc.
  const isRead = (name: string) => /^(NODE_(ENV|OPTIONS)|MALLOC_\w+)$/.test(name) || name in settings.shape;
  expect(names.filter((name) => !isRead(name))).toEqual([]);
  const preloaded = present(
    dockerfile
      .getENVs()
      .flatMap((env) => env.getProperties())
      .find((property) => property.getName() === 'NODE_OPTIONS'),
  );
  const [, file, bound] = present(/--import=\/app\/(\S+) (--\S+?)"?$/.exec(present(preloaded.getValue())));
  expect(existsSync(fileAt(present(file)))).toBe(true);
  expect(quickStart({}).NODE_OPTIONS).toContain(bound);
});

// Guards: the bundle that workers are told to load is the one that the build makes, with the one for sealed payloads.
test('workflow bundle', () => {
  const [, source] = /^node (\S+) --sealed$/.exec(manifest.scripts.build ?? '') ?? [];
  expect(read(present(source))).toContain('dist/workflow-bundle.js');
  const bundle = dockerfile
    .getENVs()
    .flatMap((env) => env.getProperties())
    .find((property) => property.getName() === 'WORKER_BUNDLE');
  expect(bundle?.getValue()).toBe('dist/workflow-bundle.js');
  expect(instructions.map((i) => i.getArgumentsContent())).toContain('npm run build');
});
