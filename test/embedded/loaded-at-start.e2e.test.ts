/** What a start loads before it is ready: each package costs it 10 to 100 ms, and memory for as long as it runs. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { readyLine, startCli } from './service-process.ts';

const RECORDER = new URL('../support/processes/record-packages.mjs', import.meta.url);
/** Each is used by some requests, some steps or some settings. */
const NOT_NEEDED = [
  '@ai-sdk/amazon-bedrock',
  '@ai-sdk/anthropic',
  '@ai-sdk/azure',
  '@ai-sdk/google',
  '@ai-sdk/mistral',
  '@ai-sdk/openai',
  '@ai-sdk/openai-compatible',
  '@aws-sdk/client-s3',
  '@modelcontextprotocol/sdk',
  '@pydantic/genai-prices',
  'ai',
  'ajv',
  'dockerode',
  'file-type',
  'gpt-tokenizer',
  'nodemailer',
  'piscina',
  'quickjs-emscripten',
  'sanitize-html',
  'sharp',
  'stripe',
  'undici',
  'unpdf',
  // Other commands of the command line.
  'src/cli/program.ts',
  'src/cli/demo.ts',
];

// Guards: the service is ready without what only some of its work needs, and without the other commands.
test('a start loads no package that nothing needs yet', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'aos-loaded-'));
  const file = join(folder, 'packages.txt');
  const recorder = new URL(RECORDER);
  recorder.searchParams.set('to', pathToFileURL(file).href);
  const service = startCli(['start'], {
    PORT: '0',
    CONTROL_PLANE_PORT: '0',
    DATA_DIR: join(folder, 'data'),
    NODE_OPTIONS: `--import=${recorder.href}`,
  });
  try {
    await readyLine(service);
    const loaded = new Set((await readFile(file, 'utf8')).trim().split('\n'));
    // What it needs is noted, so that an empty list would not pass.
    expect([...loaded]).toEqual(expect.arrayContaining(['@temporalio/worker', 'drizzle-orm', 'src/embedded/start.ts']));
    expect(NOT_NEEDED.filter((name) => loaded.has(name))).toEqual([]);
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
  }
});
