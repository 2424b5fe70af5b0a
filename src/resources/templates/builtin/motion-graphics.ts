/** A motion graphic: one idea in a few seconds, timed on a storyboard that a person sees before it moves. */
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
  number,
  object,
  palette,
  params,
  text,
} from './define.ts';

const STORYBOARD = object({
  scenes: list(
    object({
      heading: text('Words on screen, at most eight', { maxLength: 80 }),
      caption: text('A smaller line below, at most fourteen words', { maxLength: 140 }),
      duration_s: number('Seconds: half a second and a third of a second a word, at least', 2, 12),
      shape: choice('What moves behind the words', ['circles', 'bars', 'waves', 'grid']),
      motion: choice('How the words come', ['rise', 'slide', 'zoom', 'fade']),
    }),
    'In order',
    2,
    20,
  ),
});

export const motionGraphics = defineTemplate({
  slug: 'motion-graphics',
  title: 'Motion graphics',
  description:
    'Reduces a subject to one idea, writes its words and chooses its look side by side, times a storyboard that is ' +
    'tested and approved, and animates it as one HTML file with SVG and CSS.',
  collection: 'design',
  tags: ['animation', 'video', 'social', 'html', 'svg'],
  params: params({
    duration_s: integer('Length in seconds. Default: 20.', 5, 120),
    format: choice('Shape of the stage. Default: landscape.', ['landscape', 'square', 'portrait']),
    language: LANGUAGE,
  }),
  phases: [
    {
      slug: 'idea',
      title: 'Idea',
      artifact: { schema_slug: 'motion-graphics/idea' },
      steps: [
        agent('idea', 'animator', {
          instructions: `
Reduce the brief to one idea that becomes clear through movement.

Say what somebody understands at the end that they did not at the beginning, which change shows it, and what the eye follows from the first second to the last. Name everything that is left out. An idea that a still picture would show as well is the wrong one.`,
          output_schema: object({
            insight: text('What somebody understands at the end'),
            movement: text('The change that shows it'),
            left_out: list(text('Left out'), 'So that it fits', 1, 6),
          }),
        }),
      ],
    },
    {
      slug: 'words',
      title: 'Words',
      depends_on: ['idea'],
      artifact: { schema_slug: 'motion-graphics/words' },
      steps: [
        agent('write', 'copywriter', {
          instructions: `
Write the words on screen for the artifact of \`idea\`: it is watched without sound.

A hook that can be read in two seconds, then a line for each turn of the thought, then the line that stays. At most eight words a line and about two and a half words for each second of the parameter \`duration_s\`, else 20 seconds. Verbs rather than nouns.`,
          output_schema: object({
            lines: list(
              object({ line: text('At most eight words', { maxLength: 80 }), purpose: text('Why it is there') }),
              'In order',
              2,
              20,
            ),
          }),
        }),
      ],
    },
    {
      slug: 'look',
      title: 'Look',
      depends_on: ['idea'],
      cascade_on_upstream_change: 'none',
      artifact: { schema_slug: 'motion-graphics/look' },
      steps: [
        agent('design', 'designer', {
          tools: ['read_artifact', 'calculator'],
          skills: ['colour-and-contrast'],
          instructions: `
Choose the look that the artifact of \`idea\` asks for: three colours and one kind of shape.

The ground is dark or light, decided by the mood; words have at least 7 to 1 on it. The accent is the colour of what moves. Say which shape stands for the subject and why.`,
          output_schema: object({
            shape: choice('What moves behind the words', ['circles', 'bars', 'waves', 'grid']),
            reason: text('Why it stands for the subject'),
            palette: palette({ background: '#10162a', ink: '#f6f3ea', accent: '#ff8a4c' }),
          }),
        }),
      ],
    },
    {
      slug: 'storyboard',
      title: 'Storyboard',
      depends_on: ['idea', 'words', 'look'],
      artifact: { schema_slug: 'motion-graphics/storyboard', json_schema: STORYBOARD },
      steps: [
        agent('plan', 'animator', {
          tools: ['read_artifact', 'calculator'],
          instructions: `
Plan the scenes from the artifacts of \`words\` and \`look\`.

Each line becomes the heading of a scene. Its time is half a second and a third of a second a word, and never under two seconds; the last scene holds a second longer. Add the times up with the calculator: together they are the parameter \`duration_s\`, else 20 seconds, within a tenth. Keep to the shape of the look except where the thought turns. One way of coming in for all, another for the turn.`,
        }),
        agent('timing', 'tester', {
          role: 'tester',
          title: 'Check the timing',
          tools: ['calculator', 'read_artifact'],
          instructions: `
Check the timing of the storyboard with the calculator.

Test that the times add up to the length asked for within a tenth, that every scene gives its words half a second and a third of a second each, that no line of \`words\` is missing or changed, and that more than two ways of coming in are not mixed. A finding gives scene, value and the value that it should have.`,
        }),
        gate('approve', 'human', {
          prompt: 'See the words and times of each scene. Approve them, or reject them with what should change.',
          on_reject: 'rework',
        }),
      ],
    },
    {
      slug: 'animation',
      title: 'Animation',
      depends_on: ['look', 'storyboard'],
      cascade_on_upstream_change: 'strict',
      artifact: file('motion-graphics/animation'),
      steps: [action('animate', 'render_animation')],
    },
  ],
});
