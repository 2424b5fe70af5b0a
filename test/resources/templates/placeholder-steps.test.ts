/** How single steps read their prompt on the offline model: what they take from earlier steps, and what they do not. */
import { expect, test } from '@jest/globals';
import { parseJson } from '../../../src/platform/core/json.ts';
import { createOfflineModel } from '../../../src/platform/models/offline.ts';
import { PLACEHOLDER_MARK, PLACEHOLDER_NOTE } from '../../../src/platform/models/offline/notice.ts';
import { readDrawing } from '../../../src/resources/actions/builtin/rendering/svg.ts';
import { stepPrompt, type StepContext } from '../../../src/resources/projects/prompt.ts';
import { parseXml } from '../actions/context.ts';
import { cpuMsOf } from '../../support/observability/effort.ts';

const text = { type: 'string' };
const listOf = (items: object) => ({ type: 'array', items });
const objectWith = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) });
const ARTICLE = objectWith({ title: text, content: text });

const INSTRUCTIONS = 'Follow INSTRUCTION-WORD to the letter.\n\n## Brief\n\nNOT-THE-BRIEF';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects of it is what its assertions say
type Reply = any;

interface Asked extends Partial<Omit<StepContext, 'project' | 'step'>> {
  title?: string;
  brief?: string;
  params?: Record<string, unknown>;
  agent?: string;
  schema?: Record<string, unknown>;
}

/** @returns what the step replies: a text, or the value if it has a schema */
async function reply({
  agent = 'You are a writer.',
  schema,
  title = 'Tea',
  brief = 'All about tea.',
  ...rest
}: Asked): Promise<Reply> {
  const prompt = stepPrompt({
    project: { title, brief, params: rest.params ?? null },
    phase: { slug: 'phase', title: 'Phase' },
    step: { slug: 'step', title: 'Step', role: 'producer', instructions: INSTRUCTIONS, outputSchema: schema ?? null },
    reason: 'initial',
    addenda: [],
    feedback: [],
    previous: null,
    artifacts: [],
    inputs: [],
    attachments: [],
    ...rest,
  });
  const { content } = await createOfflineModel(() => 1).doGenerate({
    prompt: [
      { role: 'system', content: agent },
      { role: 'user', content: [{ type: 'text', text: prompt }] },
    ],
    ...(schema ? { responseFormat: { type: 'json', schema } } : {}),
  });
  const [part] = content;
  const said = part?.type === 'text' ? part.text : '';
  expect(said).not.toContain('INSTRUCTION-WORD');
  return schema ? parseJson(said) : said;
}

const artifact = (phaseSlug: string, content: unknown) => ({ phaseSlug, version: 1, content });
const input = (stepSlug: string, output: unknown) => ({ stepSlug, title: stepSlug, output });

// Guards: the brief is what the project says, even if instructions or the brief itself use the headings of a prompt.
test('finds the brief', async () => {
  const brief = 'About tea.\n\n## Output\n\nA page\n\n## Parameters\n\nof water\n\n## Brief\n\nand leaves';
  const said = await reply({ brief, inputs: [input('before', 'Something.\n\n## Brief\n\nNOT-EITHER')] });
  expect(said).toContain('About tea. ## Output A page ## Parameters of water ## Brief and leaves');
  expect(said).not.toMatch(/NOT-THE-BRIEF|NOT-EITHER/);
});

// Guards: a draft has the sections of the outline in its order, and the copy-edit gives the draft back with one note.
test('follows the outline and returns the draft', async () => {
  const sections = ['Water first', 'Leaves second', 'Patience'].map((heading) => ({
    heading,
    point: `On ${heading}.`,
  }));
  const outline = artifact('outline', {
    title: 'How tea is made',
    opening: 'A kettle sings.',
    sections,
    ending: 'Drink.',
  });
  const draft = await reply({ schema: ARTICLE, artifacts: [outline] });
  const { content } = draft;
  expect(draft.title).toBe('How tea is made');
  expect(content.match(/^## .*$/gm)).toEqual(['## Water first', '## Leaves second', '## Patience']);
  for (const part of ['A kettle sings.', 'On Leaves second.', 'Drink.']) expect(content).toContain(part);
  expect(content.split(PLACEHOLDER_NOTE)).toHaveLength(2);

  const edited = await reply({
    agent: 'You are an editor.',
    schema: ARTICLE,
    artifacts: [outline, artifact('draft', draft)],
  });
  expect(edited).toEqual(draft);
  const asText = await reply({
    agent: 'You are an editor.',
    inputs: [input('write', `[offline model] ${PLACEHOLDER_NOTE}\n\nTea.`)],
  });
  expect(asText).toBe(`[offline model] ${PLACEHOLDER_NOTE}\n\nTea.`);
});

// Guards: an editor whose upstream text has no note (a person wrote it) still says that no model was called.
test('marks what people wrote', async () => {
  const written = { title: 'Tea', content: 'A person wrote this.' };
  const edited = await reply({ agent: 'You are an editor.', schema: ARTICLE, artifacts: [artifact('draft', written)] });
  expect(edited).toEqual({ title: 'Tea', content: `> ${PLACEHOLDER_NOTE}\n\nA person wrote this.` });
});

// Guards: a reply that must return a long text whole stays below the limit of output tokens.
test('keeps a long draft short', async () => {
  const content = Array.from({ length: 400 }, (_, at) => `Paragraph ${at} of a long text that somebody wrote.`).join(
    '\n\n',
  );
  const edited = await reply({
    agent: 'You are an editor.',
    schema: ARTICLE,
    artifacts: [artifact('draft', { title: 'Tea', content })],
  });
  expect(JSON.stringify(edited).length).toBeLessThan(10_000);
  expect(edited.content).toMatch(/Paragraph 0 [^]*\n\n\(The rest is left out, because .*\)$/);
});

// Guards: lists that belong together have the same length, order and names.
test('continues the lists of earlier steps', async () => {
  const schema = objectWith({ scenes: listOf(objectWith({ heading: text, caption: text })) });
  const lines = ['First', 'Second', 'Third', 'Fourth', 'Fifth'].map((line) => ({ line, purpose: 'To show it.' }));
  const storyboard = await reply({ schema, artifacts: [artifact('words', { lines })] });
  expect(storyboard.scenes.map(({ heading }: { heading: string }) => heading)).toEqual(lines.map(({ line }) => line));

  const EXERCISES = objectWith({
    exercises: listOf(
      objectWith({ kind: { enum: ['multiple_choice', 'true_false', 'open'] }, question: text, options: listOf(text) }),
    ),
  });
  const sheet = await reply({ agent: 'You are a teacher.', schema: EXERCISES, params: { exercises: 6 } });
  const exercises = sheet.exercises;
  expect(exercises).toHaveLength(6);
  const key = await reply({
    agent: 'You are a teacher.',
    schema: objectWith({ answers: listOf(objectWith({ answer: text, explanation: text })) }),
    artifacts: [artifact('exercises', sheet)],
  });
  const answers = key.answers;
  expect(answers).toHaveLength(6);
  for (const [at, { kind, options }] of exercises.entries()) {
    if (kind === 'multiple_choice') expect(options).toContain(answers[at]?.answer);
    else expect(options).toEqual([]);
    if (kind === 'true_false') expect(answers[at]?.answer).toMatch(/^(True|False)$/);
  }
});

// Guards: files of several steps become one project, each with content that fits its name.
test('joins the files of several steps', async () => {
  const FILES = objectWith({ files: listOf(objectWith({ path: text, content: text })) });
  const agent = 'You are a software engineer.';
  const made = await reply({ agent, schema: FILES });
  const other = { files: [{ path: 'other.js', content: '// Other' }] };
  const joined = await reply({ agent, schema: FILES, inputs: [input('a', made), input('b', other)] });
  const paths = joined.files.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(['index.html', 'style.css', 'app.js', 'other.js']);
  const [page, , script] = made.files;
  expect(page?.content).toMatch(/^<!doctype html>\n<!-- Placeholder/);
  expect(script?.content).toMatch(/^\/\/ Placeholder/);
});

// Guards: somebody who asks for changes sees that they arrived.
test('names what was asked to change', async () => {
  const said = await reply({ feedback: ['Name the costs of the first year.'] });
  expect(said).toContain('## Changes asked for\n\n- Name the costs of the first year.');
  expect(said).not.toContain('Settle every point');
});

// Guards: a judge approves unless a directive says otherwise, and the reason of a rejection is given as it is.
test('judges', async () => {
  const schema = objectWith({ passed: { type: 'boolean' }, findings: listOf(text) });
  const agent = 'You are a tester.';
  await expect(reply({ agent, schema })).resolves.toEqual({
    passed: true,
    findings: [expect.stringMatching(/^Placeholder: /)],
  });
  await expect(reply({ agent, schema, brief: 'Tea. [[reject: Too hot]]' })).resolves.toEqual({
    passed: false,
    findings: ['Too hot'],
  });
});

// Guards: a drawing is well-formed, survives the sanitizer, differs from its neighbours, and its title stays inside it.
test.each([
  ['a short title', 'Tea'],
  ['a long one', 'A tool for our choir so that people see rehearsals and find the notes of each song they sing'],
  ['one word without end', 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen'.repeat(2)],
  ['markup', `<b>"Tea" & 'milk'</b> ]]> <!-- x`],
  ['another script', 'なぜ小さなチームは決定を書き残すべきか'],
  ['emoji', '🎈🏳️‍🌈👩‍👩‍👧‍👦'],
])('draws %s', async (_, title) => {
  const schema = objectWith({ svg: text, scenes: listOf(objectWith({ svg: text, alt: text })) });
  const made = await reply({ title, brief: title, schema });
  const svgs = [made.svg, ...made.scenes.map(({ svg }: { svg: string }) => svg)];
  expect(new Set(svgs).size).toBe(svgs.length);
  for (const svg of svgs) {
    expect(readDrawing(svg, '')).toBeDefined();
    parseXml(svg);
    const [, width = ''] = /viewBox='0 0 (\d+) /.exec(svg) ?? [];
    for (const [, size, line] of svg.matchAll(/font-size='(\d+)'[^>]*>([^<]*)</g))
      expect([...(line ?? '')].length * Number(size) * 0.55).toBeLessThan(Number(width) * 0.8);
  }
});

// Guards: a prompt of the largest size is answered at once.
test.each([
  ['spaces', ' '.repeat(250_000)],
  ['headings', '## Brief\n'.repeat(30_000)],
  ['brackets', '[]('.repeat(80_000)],
  ['words', 'why the '.repeat(30_000)],
])('answers a step of many %s', async (_, hostile) => {
  const took = await cpuMsOf(async () => {
    await reply({ title: hostile.slice(0, 200), brief: hostile, inputs: [input('a', hostile)], feedback: [hostile] });
    await reply({ agent: 'You are an editor.', schema: ARTICLE, brief: hostile, artifacts: [artifact('a', hostile)] });
  });
  expect(took).toBeLessThan(3_000);
});

// Guards: the mark of an earlier step is not carried into a field in which this step has none.
test('carries texts without their mark', async () => {
  const schema = objectWith({ reader: { ...text, maxLength: 100 }, summary: text });
  const made = await reply({ schema, inputs: [input('a', { reader: `${PLACEHOLDER_MARK} Somebody.` })] });
  expect(made).toEqual({ reader: 'Somebody.', summary: expect.stringContaining(PLACEHOLDER_MARK) });
});
