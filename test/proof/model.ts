/**
 * R14: a real model (llama.cpp with weights of 135 million parameters, from packages) behind a server of the OpenAI protocol,
 * and the service that is pointed at it. What the service says of a run is held against what the model's server saw.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeWithUs } from '../bench/processes.ts';
import { reasonAgainstLlama, startLlamaServer, WEIGHTS_NAME } from '../support/llama/llama.ts';
import { keepLogs } from './keep-logs.ts';
import { CHECKS, WORKFLOW_CHECKS, type ModelCheck } from './model-checks.ts';
import { startModelRig } from './model-rig.ts';
import { prove, type Check } from './report.ts';

const reason = await reasonAgainstLlama();
if (reason !== undefined) {
  process.stdout.write(`SKIPPED: nothing is proved here about a real model: ${reason}\n`);
  process.exit(0);
}

await prove(
  { name: 'model', claim: 'R14', title: 'A real model behind the OpenAI protocol' },
  async ({ seed, small, say, repeat }) => {
    const folder = await mkdtemp(join(tmpdir(), 'aos-model-'));
    removeWithUs(folder);
    const llama = await startLlamaServer(seed, folder, 'llama.log');
    say(`${WEIGHTS_NAME} is loaded`);
    const checks: Check[] = [];

    async function drive(settings: Record<string, string>, all: readonly ModelCheck[]): Promise<void> {
      const rig = await startModelRig(llama, settings);
      say('the service is up');
      for (const [what, check] of all) {
        const from = performance.now();
        const told = await check(rig).then(
          (seen) => ({ seen, isPassed: true }),
          (error: unknown) => ({ seen: inALine(error), isPassed: false }),
        );
        checks.push({ what, tookMs: Math.round(performance.now() - from), ...told });
        say(`${told.isPassed ? 'passed' : 'FAILED'}: ${what}: ${told.seen}`);
      }
      if (checks.some(({ isPassed }) => !isPassed)) {
        await writeFile(join(rig.service.folder, 'model-calls.log'), JSON.stringify(await llama.calls(), null, 1));
        say(`the logs are in ${await keepLogs(rig.service.folder, `model-${seed}`)}`);
      }
      await rig.service.close();
    }
    for (const { settings, checks: all } of small ? CHECKS : [...CHECKS, ...WORKFLOW_CHECKS])
      await drive(settings, all);

    const calls = await llama.calls();
    await llama.close();
    const sum = (count: 'promptTokens' | 'cachedTokens' | 'outputTokens') =>
      calls.reduce((total, call) => total + call[count], 0);
    const failed = checks.filter(({ isPassed }) => !isPassed);
    return {
      did: {
        'things shown': checks.length - failed.length,
        'calls of the model': calls.length,
        'tokens read': sum('promptTokens'),
        'of which cached': sum('cachedTokens'),
        'tokens written': sum('outputTokens'),
      },
      violations: failed.map(({ what, seen }) => ({ what: `${what}: ${seen}`, repeat })),
      checks,
    };
  },
);

function inALine(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return words.replace(/\s+/g, ' ').slice(0, 500);
}
