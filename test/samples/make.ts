/**
 * `node test/samples/make.ts [workflow ...]` plays the samples, prints their faults, and writes what each one makes to
 * `samples/workflows/<workflow>/result/`. `npm run samples:pictures` then looks at them in a browser.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSamples } from '../../src/resources/samples/library.ts';
import { playSample, repeatedSentences } from './play.ts';
import { resultFile } from './result.ts';

const ROOT = fileURLToPath(new URL('../../samples/workflows', import.meta.url));
const library = await openSamples();
const wanted = process.argv.slice(2);
let faulty = 0;
for (const sample of library.workflows) {
  if (wanted.length > 0 && !wanted.includes(sample.workflow)) continue;
  const played = await playSample(library, sample);
  const folder = join(ROOT, sample.workflow, 'result');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [phase, content] of played.artifacts) {
    const { name, text } = resultFile(phase, content);
    await writeFile(join(folder, name), text);
  }
  const faults = [...played.faults, ...repeatedSentences(played, sample.workflow)];
  faulty += faults.length;
  console.log(
    `${sample.workflow}: ${played.replies.length} replies, sent back by ${played.rejections.join(', ') || 'nobody'}`,
  );
  for (const fault of faults) console.log(`  FAULT ${fault}`);
}
process.exitCode = faulty === 0 ? 0 : 1;
