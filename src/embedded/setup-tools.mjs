/**
 * Holds what the steps of set-up share: hashes, child processes, a lock between processes, and progress. It imports no
 * package.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { killedLine } from './memory.mjs';

/** A failure that a person can mend. It is shown as one message, without a stack. */
export class SetupError extends Error {}

/** Makes one hash over names and contents, so that a renamed file counts as a change. */
export function hashFiles(files, salt = '') {
  const hash = createHash('sha256').update(salt);
  for (const file of [...files].sort()) {
    hash.update(`\0${file}\0`);
    if (existsSync(file)) hash.update(readFileSync(file));
  }
  return hash.digest('hex');
}

export const readText = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

/** Writes a file whole or not at all, whenever the process is killed. */
export function writeWhole(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, file);
}

/**
 * Notes that a step has made its files, once they are on the disk. After a power loss a note without its files would keep
 * set-up from making them again.
 */
export async function writeStamp(file, text) {
  await syncDisk(dirname(file));
  writeWhole(file, text);
}

/** Brings what was written on the file system of a folder to the disk, where the machine has a program for that. */
export const syncDisk = (folder) => execute('sync', process.platform === 'linux' ? ['-f', folder] : []).catch(() => {});

const children = new Set();

export function stopChildren() {
  for (const child of children) {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      // The process has ended already.
    }
  }
}

/** Runs a program quietly. Its output is shown only in the error. */
export function execute(program, args, { env = {}, timeoutMs, cwd } = {}) {
  return new Promise((resolve, reject) => {
    // The program gets a process group of its own, so that an interrupted set-up also ends the helpers of npm and go.
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    children.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => (output = (output + chunk).slice(-4_000)));
    }
    const timer = timeoutMs && setTimeout(() => process.kill(-child.pid, 'SIGKILL'), timeoutMs);
    const settle = (end) => {
      clearTimeout(timer);
      children.delete(child);
      end();
    };
    child.on('error', (error) => settle(() => reject(new SetupError(`cannot run ${program}: ${error.message}`))));
    child.on('close', (code, signal) =>
      settle(() => {
        if (code === 0) return resolve(output);
        const what = `${program} ${args.join(' ')}`;
        // One that took too long was killed by ourselves.
        const isKilled = signal === 'SIGKILL' && !timeoutMs;
        reject(new SetupError(isKilled ? killedLine(what) : `${what} failed\n${output.trim()}`));
      }),
    );
  });
}

const HEARTBEAT_MS = 2_000;
/**
 * A holder that has not touched its lock for this long is dead. This is told by time and not by process ids, because
 * containers may share the directory.
 */
const ABANDONED_MS = 15_000;

export async function withLock(file, progress, work) {
  mkdirSync(dirname(file), { recursive: true });
  if (!take(file)) await progress.show('Waiting for another set-up', () => waitFor(() => take(file)));
  const heartbeat = setInterval(() => utimesSync(file, new Date(), new Date()), HEARTBEAT_MS);
  const release = () => rmSync(file, { force: true });
  process.on('exit', release);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    process.off('exit', release);
    release();
  }
}

function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  try {
    if (Date.now() - statSync(file).mtimeMs < ABANDONED_MS) return false;
    // Of several processes that find the lock abandoned, one wins the rename. All of them then compete for a new lock.
    renameSync(file, `${file}.${process.pid}`);
    rmSync(`${file}.${process.pid}`);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return false;
}

async function waitFor(happened) {
  while (!happened()) await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const PLAIN_INTERVAL_MS = 15_000;

/**
 * Draws one line again and again on a terminal, and elsewhere prints plain lines with a sign of life. It always writes
 * to stderr.
 */
export function createProgress(stream = process.stderr) {
  const active = new Map();
  const seconds = (since) => `${Math.round((Date.now() - since) / 1_000)} s`;
  const clear = () => stream.isTTY && stream.write('\r\x1b[2K');
  const status = () => [...active].map(([title, since]) => `${title} (${seconds(since)})`).join(' · ');
  let ticks = 0;
  let timer;

  function draw() {
    if (active.size === 0) return;
    if (!stream.isTTY) return stream.write(`${status()} ...\n`);
    clear();
    stream.write(`${FRAMES[ticks++ % FRAMES.length]} ${status()}`.slice(0, (stream.columns ?? 80) - 1));
  }

  return {
    /** @param work is given a function that prints a line of its own, for what a person should know meanwhile */
    async show(title, work) {
      active.set(title, Date.now());
      if (!stream.isTTY) stream.write(`${title} ...\n`);
      timer ??= setInterval(draw, stream.isTTY ? 100 : PLAIN_INTERVAL_MS);
      let outcome = '✗';
      try {
        const result = await work((line) => {
          clear();
          stream.write(`  ${line}\n`);
        });
        outcome = '✓';
        return result;
      } finally {
        clear();
        stream.write(`${outcome} ${title} (${seconds(active.get(title))})\n`);
        active.delete(title);
        if (active.size === 0) timer = clearInterval(timer);
      }
    },
  };
}
