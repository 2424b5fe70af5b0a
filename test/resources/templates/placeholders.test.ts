/** What the ten workflows make without a model can be read, says what it is, and quotes nothing that agents are told. */
import { expect, test } from '@jest/globals';
import { first } from '../../../src/platform/core/present.ts';
import { isRecord } from '../../../src/platform/core/record.ts';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import { readDrawing } from '../../../src/resources/actions/builtin/rendering/svg.ts';
import { builtinSkills } from '../../../src/resources/skills/builtin/index.ts';
import { builtinTemplates } from '../../../src/resources/templates/builtin/index.ts';
import { outputSchemaOf } from '../../../src/resources/templates/model.ts';
import { describedTools } from '../../support/service/builtin-tools.ts';
import { runOffline } from './offline-pipeline.ts';

interface Brief {
  title: string;
  brief: string;
}

/** A project without a title is called after the first line of its brief. */
const untitled = (brief: string): Brief => ({ title: [...first(brief.split('\n'))].slice(0, 80).join(''), brief });

const LONG =
  'We run a workshop for bicycles in a town by a river, and every spring the same thing happens: forty people come in ' +
  'one week and all of them want to ride on Sunday. ';

const BRIEFS: readonly Brief[] = [
  { title: 'Bees on city roofs', brief: 'Why beekeeping on city roofs is growing. For people who have a flat roof.' },
  untitled('Bread'),
  untitled('Why small teams should write their decisions down'),
  untitled('?'),
  untitled('🎈🎉'),
  untitled(`${LONG.repeat(40)}\n\nWrite something that helps them and us.`),
  untitled('Warum kleine Betriebe ihre Entscheidungen aufschreiben sollten, und wie sie damit anfangen'),
  untitled('Cómo cuidar un huerto en el balcón cuando hace mucho calor y casi no queda agua'),
  untitled('なぜ小さなチームは決定を書き残すべきか。読者はスタートアップの創業者です。'),
  untitled('为什么小团队应该写下决定。我们想解释如何开始,以及需要多长时间。'),
  untitled('لماذا يجب على الفرق الصغيرة تدوين قراراتها؟ للمديرين الجدد.'),
  untitled('छोटी टीमों को अपने निर्णय क्यों लिखने चाहिए'),
  untitled('Зачем небольшим командам записывать свои решения\nДля руководителей, которым некогда.'),
  untitled('ทำไมทีมเล็กจึงควรจดการตัดสินใจของตน'),
  {
    title: 'PostgreSQL: `SELECT ... FOR UPDATE SKIP LOCKED` & <queues>',
    brief:
      'Explain SKIP LOCKED to engineers who know SQL.\n\n```sql\nselect 1 where a < 2 && b > 3;\n```\n\nUse C++ and node_modules.',
  },
  untitled('A detective who is a potato and solves crimes in a fridge, but only on Tuesdays'),
  {
    title: '# The plan',
    brief:
      '# The plan\n\n## Audience\n\nGardeners\n\n## Output\n\n- A page\n- A **bold** list\n\n## Parameters\n\nNone',
  },
  {
    title: 'The "best" café, they said',
    brief: "He said: \"It's the best café in town\", and 'we' agreed. Write about “that” café.",
  },
  { title: 'x'.repeat(200), brief: 'y'.repeat(5_000) },
  untitled(
    'I want a tool for our choir so that people see rehearsals, sign up for lifts and find the notes of each song',
  ),
];

/** For parameters that nothing sensible can stand in for. */
const PARAMS: Record<string, Record<string, unknown>> = {
  'landing-page': { call_to_action_url: 'https://example.com/start' },
  worksheet: { grade: 'grade 5' },
};

const RUN_OF_WORDS = 8;
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

function* runsOf(text: string): Generator<string> {
  const words = wordsOf(text);
  for (let at = 0; at + RUN_OF_WORDS <= words.length; at += 1) yield words.slice(at, at + RUN_OF_WORDS).join(' ');
}

/** Each text in a value, with the name of its field. */
function* textsIn(value: unknown, name = ''): Generator<{ name: string; text: string }> {
  if (typeof value === 'string') yield { name, text: value };
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item, name);
  else if (isRecord(value)) for (const [key, item] of Object.entries(value)) yield* textsIn(item, key);
}

function* listsIn(value: unknown): Generator<unknown[]> {
  if (Array.isArray(value)) yield value;
  if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* listsIn(item);
}

const descriptionsIn = (schema: unknown): string[] =>
  [...textsIn(schema)].filter(({ name }) => name === 'description').map(({ text }) => text);

/** Everything that agents are told, apart from what a project says. */
const TOLD: readonly string[] = [
  ...builtinTemplates.flatMap(({ spec }) => [
    spec.description,
    ...descriptionsIn(spec.params),
    ...spec.phases.flatMap((phase) =>
      phase.steps.flatMap((step) => [step.instructions ?? '', ...descriptionsIn(outputSchemaOf(phase, step))]),
    ),
  ]),
  ...[...builtinAgents.values()].flatMap(({ prompt, sessionPrompt, heartbeatPrompt }) => [
    prompt,
    sessionPrompt ?? '',
    heartbeatPrompt ?? '',
  ]),
  ...[...builtinSkills.values()].map(({ body }) => body),
  ...describedTools.all.flatMap(({ description, parameters }) => [description, ...descriptionsIn(parameters)]),
];
const RUNS_TOLD: ReadonlySet<string> = new Set(TOLD.flatMap((text) => [...runsOf(text)]));

/** What is seen of a page or a drawing. Its markup is the same as in any other, and as in the examples of a skill. */
const visible = (text: string): string =>
  text.replace(/<(style|script)\b.*?<\/\1>/gs, ' ').replace(/<[a-z!/?][^>]*>/gi, ' ');

function faultsOf(place: string, output: unknown, { title, brief }: Brief): string[] {
  const faults: string[] = [];
  const ofBrief = new Set(runsOf(`${title}\n${brief}`));
  let isMarked = false;
  for (const { name, text } of textsIn(output)) {
    if (/placeholder (text|drawing|approval)|placeholder: no model/i.test(text)) isMarked = true;
    if (name === 'svg' && !readDrawing(text, '')) faults.push(`${place}: ${name} is no drawing: ${text.slice(0, 80)}`);
    for (const run of runsOf(visible(text)))
      if (RUNS_TOLD.has(run) && !ofBrief.has(run)) faults.push(`${place}: ${name} quotes what agents are told: ${run}`);
  }
  if (!isMarked) faults.push(`${place}: nothing says that this is a placeholder`);
  for (const list of listsIn(output)) {
    const texts = list.filter((item) => typeof item === 'string').map((text) => wordsOf(text).join(' '));
    if (new Set(texts).size < texts.length) faults.push(`${place}: a list repeats itself: ${JSON.stringify(list)}`);
    const seen = new Set<string>();
    for (const item of list.filter(isRecord)) {
      for (const [key, text] of Object.entries(item)) {
        // Words such as a method may be the same in several items; sentences may not.
        if (typeof text !== 'string' || wordsOf(text).length < 3) continue;
        if (seen.has(`${key} ${text}`)) faults.push(`${place}: two items have the same ${key}: ${text.slice(0, 80)}`);
        seen.add(`${key} ${text}`);
      }
    }
  }
  return faults;
}

// Guards: without a model key a stranger sees filler that can be read, is marked as such, and is made of the brief:
// instructions, skills, system prompts and descriptions once came back as the article.
test.each(builtinTemplates.map(({ spec }) => [spec.slug, spec] as const))(
  '%s is readable for any brief',
  async (slug, spec) => {
    for (const brief of BRIEFS) {
      const faults: string[] = [];
      const hear = (place: string, output: unknown) => faults.push(...faultsOf(place, output, brief));
      const artifacts = await runOffline(spec, { ...brief, params: PARAMS[slug] ?? {} }, hear);
      for (const [phase, artifact] of artifacts) faults.push(...faultsOf(`artifact of ${phase}`, artifact, brief));
      expect({ brief: brief.title, faults }).toEqual({ brief: brief.title, faults: [] });
    }
  },
);
