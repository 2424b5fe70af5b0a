/** A worksheet: goals, a passage and exercises, solved independently before a pupil sees them. */
import {
  integer,
  action,
  agent,
  choice,
  defineTemplate,
  file,
  gate,
  LANGUAGE,
  list,
  object,
  params,
  text,
} from './define.ts';

export const worksheet = defineTemplate({
  slug: 'worksheet',
  title: 'Worksheet',
  description:
    'Sets learning goals, writes a passage and exercises, solves them independently to test them, has the teacher ' +
    'approve them, and renders a printable worksheet with the answer key on its own page.',
  collection: 'education',
  tags: ['school', 'exercises', 'print', 'html'],
  params: params(
    {
      grade: text('Class or age of the pupils, such as "grade 5" or "adults, level A2"', { maxLength: 100 }),
      exercises: integer('How many. Default: 8.', 3, 30),
      minutes: integer('Time to work. Default: 30.', 5, 180),
      language: LANGUAGE,
    },
    ['grade'],
  ),
  phases: [
    {
      slug: 'goals',
      title: 'Learning goals',
      artifact: { schema_slug: 'worksheet/goals' },
      steps: [
        agent('goals', 'educator', {
          instructions: `
Set the learning goals of this worksheet for the class in the parameter \`grade\`.

Two to four goals that begin with what a pupil can do afterwards and how one would see it. For each, what they must know before and the mistake that most of them make. Attachments of the project (curriculum, textbook pages) decide over your own view.`,
          output_schema: object({
            goals: list(
              object({
                goal: text('A pupil can ...'),
                before: text('Needed knowledge'),
                mistake: text('Usual misconception'),
              }),
              'Most basic first',
              2,
              4,
            ),
            vocabulary: list(text('Term'), 'Used in the exercises and not explained elsewhere', 0, 12),
          }),
        }),
      ],
    },
    {
      slug: 'passage',
      title: 'Reading passage',
      depends_on: ['goals'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'worksheet/passage' },
      steps: [
        agent('write', 'writer', {
          instructions: `
Write a short passage that leads into the subject of the artifact of \`goals\`.

100 to 180 words in the language of the class of the parameter \`grade\`: a situation from their lives in which the subject matters. It makes curious and gives away no answer. The terms of the vocabulary appear where their meaning shows.`,
          output_schema: object({
            passage: object({ title: text('Title', { maxLength: 80 }), text: text('The passage, in paragraphs') }),
          }),
        }),
      ],
    },
    {
      slug: 'exercises',
      title: 'Exercises',
      depends_on: ['goals'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'worksheet/exercises' },
      steps: [
        agent('write', 'educator', {
          skills: ['exercise-design'],
          instructions: `
Write the exercises for the artifact of \`goals\`, from easy to hard.

- As many as the parameter \`exercises\`, else 8, solvable in \`minutes\`, else 30. Every goal has at least two.
- One thing is asked in one sentence. Numbers work out. The wrong options of a multiple choice are the usual misconceptions, and exactly one option is right.
- The first can be solved by everybody, the last makes the best ones think. At least one is open.
- \`options\` are filled for multiple_choice and empty for other kinds.`,
          output_schema: object({
            exercises: list(
              object({
                kind: choice('How it is answered', ['short_answer', 'multiple_choice', 'true_false', 'open']),
                question: text('What is asked'),
                options: list(text('Option', { maxLength: 200 }), 'Of a multiple choice', 0, 6),
                points: integer('Points', 1, 10),
              }),
              'From easy to hard',
              3,
              30,
            ),
          }),
        }),
        agent('solve', 'tester', {
          role: 'tester',
          title: 'Solve them blind',
          tools: ['calculator', 'read_artifact'],
          skills: ['exercise-design'],
          instructions: `
Solve every exercise as a pupil would who knows only what the goals presuppose.

Calculate with the calculator. Test that each has exactly one right answer (open ones: a clear measure), that all words are known or explained, that no exercise gives away another, and that the time suffices. A finding gives the number, what went wrong and a better wording.`,
        }),
        gate('teacher', 'human', {
          prompt: 'Do these exercises fit your class? Reject them with what should change: they are then rewritten.',
          on_reject: 'rework',
        }),
      ],
    },
    {
      slug: 'key',
      title: 'Answer key',
      depends_on: ['goals', 'exercises'],
      cascade_on_upstream_change: 'strict',
      artifact: { schema_slug: 'worksheet/key' },
      steps: [
        agent('solve', 'educator', {
          tools: ['calculator', 'read_artifact'],
          instructions: `
Write the answer key to the artifact of \`exercises\`: as many answers, in the same order.

Give the answer first, as short as a pupil would write it. Then, for whoever corrects: the way to it in one or two sentences, the mistake to expect, and for open exercises what earns which points. Check every number with the calculator.`,
          output_schema: object({
            answers: list(
              object({ answer: text('The answer'), explanation: text('For whoever corrects') }),
              'In order',
              3,
              30,
            ),
          }),
        }),
      ],
    },
    {
      slug: 'sheet',
      title: 'Worksheet',
      depends_on: ['passage', 'exercises', 'key'],
      cascade_on_upstream_change: 'strict',
      artifact: file('worksheet/sheet'),
      steps: [action('render', 'render_worksheet')],
    },
  ],
});
