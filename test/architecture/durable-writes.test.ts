/**
 * What is written below DATA_DIR survives a power loss, because it is written in one way: through
 * `src/platform/files/durable.ts`. Everything else that can write a file is found here and is allowed by name alone.
 * `test/platform/files/durable.test.ts` proves the functions of that module, and each of its callers.
 */
import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { diskWriters } from '../support/architecture/disk-writers.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const ELSEWHERE = 'writes a build product or a set-up file, which is made again';
const PERSONS = "writes a person's own file, where that person asks for it";
const INSTALLED = 'packages of a registry, which are installed anew where they are not whole';
const TEMPORARY = 'writes a file for the time of one job, in the temporary folder of the machine';

/** Why a writer needs no sync of its own, by file and writer. */
const ALLOWED: Record<string, Record<string, string>> = {
  'src/platform/files/durable.ts': Object.fromEntries(
    ['createWriteStream', 'mkdir', 'open', 'rename', 'writeFile'].map((writer) => [writer, 'is the one way']),
  ),
  'src/platform/files/files.ts': {
    createWriteStream: TEMPORARY,
    'flydrive/drivers/fs': 'reads and deletes; the store writes and syncs by the durable module',
  },
  'src/embedded/durable-node-fs.ts': {
    '@electric-sql/pglite/nodefs': 'is the file system of the database, to which it adds fsync',
    fsyncSync: 'syncs',
    fdatasyncSync: 'syncs',
  },
  'src/embedded/postgres-server.ts': {
    cp: 'copies to an unfinished directory, which the durable module publishes',
    'node:sqlite': 'locks; the file holds nothing',
  },
  'src/embedded/stale.ts': { 'node:sqlite': 'locks; the file holds nothing' },
  'src/embedded/temporal-file.ts': { 'node:sqlite': 'reads' },
  'src/embedded/backup.ts': {
    tar: 'writes to an unfinished name, which the durable module publishes',
    chmod: 'changes the mode of a file that is not published yet',
  },
  'src/embedded/flush.ts': { open: 'opens a file of Temporal to sync it' },
  'src/embedded/start.ts': { writeFile: 'writes a probe that is removed at once' },

  'src/embedded/prepare-database.ts': { mkdir: ELSEWHERE },
  'src/embedded/demo.ts': { mkdtemp: 'makes the throw-away directory of a demo' },
  'src/embedded/download-temporal.mjs': { tar: ELSEWHERE },
  'src/embedded/setup-steps.mjs': {
    copyFileSync: ELSEWHERE,
    mkdirSync: ELSEWHERE,
    renameSync: ELSEWHERE,
    symlinkSync: ELSEWHERE,
  },
  'src/embedded/setup-tools.mjs': {
    mkdirSync: ELSEWHERE,
    renameSync: ELSEWHERE,
    utimesSync: ELSEWHERE,
    writeFileSync: ELSEWHERE,
  },
  'src/build-bundle.ts': { mkdir: ELSEWHERE, rename: ELSEWHERE, writeFile: ELSEWHERE },
  'src/platform/files/parts.ts': { writeFile: TEMPORARY },
  'src/platform/files/spool.ts': { mkdtemp: TEMPORARY },
  'src/platform/models/multilingual/install.ts': { mkdir: INSTALLED, mkdtemp: INSTALLED, rename: INSTALLED },
  'src/resources/exports/archive/pack.ts': { createWriteStream: TEMPORARY },
  'src/cli/attached.ts': { openAsBlob: 'reads' },
  'src/cli/files.ts': { writeFile: PERSONS },
  'src/cli/files/writing.ts': { mkdir: PERSONS, writeFile: PERSONS },
  'src/cli/project-artifacts.ts': { mkdir: PERSONS, writeFile: PERSONS },
  'src/cli/workspace-exports.ts': { createWriteStream: PERSONS, rename: PERSONS },
};

const SOURCES = ['src', 'activities', 'workflows', 'bin'].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?[jt]s$/.test(name) && !/\.d\.m?ts$/.test(name))
    .map((name) => `${folder}/${name}`),
);

// Guards against: a new place that writes below DATA_DIR and forgets to sync, which nothing but a power loss would show.
test('every place that can write a file uses the durable module, or is allowed by name', () => {
  const found = SOURCES.map((file) => [file, diskWriters(file, readFileSync(`${ROOT}${file}`, 'utf8'))] as const);
  const writers = Object.fromEntries(found.filter(([, names]) => names.length > 0));
  const allowed = Object.fromEntries(Object.entries(ALLOWED).map(([file, names]) => [file, Object.keys(names).sort()]));
  // If this fails for a new file: write with src/platform/files/durable.ts, or say in ALLOWED why a power loss does no harm.
  expect(writers).toEqual(allowed);
});

// Guards: the search sees each way to name a writer, so that the test above cannot pass because it looks past one.
describe('the search finds', () => {
  test.each([
    ["import { writeFile } from 'node:fs/promises';", ['writeFile']],
    ["import { appendFileSync as add } from 'fs';", ['appendFileSync']],
    ["import fs from 'node:fs';\nfs.cpSync(a, b);", ['cpSync']],
    ["import * as files from 'node:fs/promises';\nawait files.open(path, 'w');", ['open']],
    ["import { promises } from 'node:fs';\nawait promises.symlink(a, b);", ['symlink']],
    ["const { writeFile } = await import('node:fs/promises');", ['node:fs/promises']],
    ["const fs = require('fs');", ['fs']],
    ["import { DatabaseSync } from 'node:sqlite';", ['node:sqlite']],
    ["await execFileAsync('cp', ['-R', a, b]);", ['cp']],
    ["import { FSDriver } from 'flydrive/drivers/fs';", ['flydrive/drivers/fs']],
  ])('%s', (source, writers) => {
    expect(diskWriters('some.ts', source)).toEqual(writers);
  });
  test.each([
    "import { readFile, rm, stat } from 'node:fs/promises';",
    "import fs from 'node:fs';\nfs.readFileSync(path);",
    "import type { FileHandle } from 'node:fs/promises';",
    "import { writeDurably } from '../platform/files/durable.ts';",
  ])('nothing in: %s', (source) => {
    expect(diskWriters('some.ts', source)).toEqual([]);
  });
});
