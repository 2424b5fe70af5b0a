/** The recorded samples themselves, without a service: each file is what its step asks for, and what it makes is right. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { isRecord } from '../../../src/platform/core/record.ts';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import { findAction } from '../../../src/resources/actions/builtin/index.ts';
import { openSamples } from '../../../src/resources/samples/library.ts';
import { builtinTemplates } from '../../../src/resources/templates/builtin/index.ts';
import { playSample, repeatedSentences, type PlayedSample } from '../../samples/play.ts';
import { resultFile } from '../../samples/result.ts';

const ROOT = fileURLToPath(new URL('../../../samples/workflows', import.meta.url));
const library = await openSamples();

const played = new Map<string, Promise<PlayedSample>>();
function play(workflow: string): Promise<PlayedSample> {
  const sample = present(library.workflows.find((each) => each.workflow === workflow));
  const playing = played.get(workflow) ?? playSample(library, sample);
  played.set(workflow, playing);
  return playing;
}

// Guards: no built-in workflow ships without its sample.
test('each built-in workflow has one', () => {
  const shipped = builtinTemplates.map(({ spec }) => spec.slug).sort();
  expect(library.workflows.map(({ workflow }) => workflow)).toEqual(shipped);
});

describe.each(library.workflows.map(({ workflow }) => workflow))('%s', (workflow) => {
  // Guards: schemas, parameters, drawings that the sanitizer would change, and the HTML check of the workflow.
  test('fits its workflow', async () => expect((await play(workflow)).faults).toEqual([]));

  // Guards: each step adds something of its own.
  test('repeats nothing from step to step', async () =>
    expect(repeatedSentences(await play(workflow), workflow)).toEqual([]));

  // Guards: the files that people open in `result/` are what the recorded replies make.
  test('makes what its folder shows', async () => {
    const { artifacts } = await play(workflow);
    const made = [...artifacts].map(([phase, content]) => resultFile(phase, content));
    const folder = join(ROOT, workflow, 'result');
    expect((await readdir(folder)).sort()).toEqual(made.map(({ name }) => name).sort());
    for (const { name, text } of made) expect([name, await readFile(join(folder, name), 'utf8')]).toEqual([name, text]);
  });

  // Guards: a page that somebody opens passes the product's own check of pages.
  test('its pages pass the HTML check', async () => {
    for (const content of (await play(workflow)).artifacts.values()) {
      if (!isRecord(content) || content.content_type !== 'text/html') continue;
      const check = await present(findAction('check_html')).run({
        project: { id: 'sample-000000', title: '', brief: '', params: {} },
        inputs: { page: content },
        artifacts: {},
        instructions: null,
        signal: new AbortController().signal,
        fetch: () => Promise.reject(new Error('no network here')),
      });
      expect(check).toMatchObject({ passed: true });
    }
  });

  // Guards: no file lies about that no reply refers to.
  test('every file is used', async () => {
    const folder = join(ROOT, workflow);
    const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .filter((name) => !name.startsWith('result/') && name !== 'sample.json');
    const replies = await Promise.all(
      names.filter((name) => /\.\d+\.json$/.test(name)).map((name) => readFile(join(folder, name), 'utf8')),
    );
    const isReply = (name: string) => /^[\w-]+\.[\w-]+\.\d+\.(json|md)$/.test(name);
    expect(names.filter((name) => !isReply(name) && !replies.some((text) => text.includes(`"${name}"`)))).toEqual([]);
  });
});

// Guards: attempts, feedback and versions can be seen: at least two samples have work that is sent back.
test('two samples or more send work back', async () => {
  const all = await Promise.all(library.workflows.map(({ workflow }) => play(workflow)));
  expect(all.filter(({ rejections }) => rejections.length > 0).length).toBeGreaterThanOrEqual(2);
});

// Guards: a recorded call is one that the agent may make.
test.each(library.prompts.map((prompt) => [prompt.slug, prompt] as const))('%s calls what it may', (_, sample) => {
  const agent = present(builtinAgents.get(sample.agent));
  const called = sample.turns.flatMap(({ calls }) => calls.map(({ tool }) => tool));
  expect(called.filter((tool) => !(agent.allowedTools ?? []).includes(tool))).toEqual([]);
  expect(present(sample.turns.at(-1)).calls).toEqual([]);
});
