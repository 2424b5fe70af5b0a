/** A digital planner: the year of one kind of person, as linked pages with questions worth answering. */
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
  palette,
  params,
  text,
} from './define.ts';

export const digitalPlanner = defineTemplate({
  slug: 'digital-planner',
  title: 'Digital planner',
  description:
    'Studies what a person plans, writes prompts and chooses habits and a look side by side, and renders a year of ' +
    'linked year, month and week pages in one HTML file.',
  collection: 'products',
  tags: ['planner', 'calendar', 'habits', 'html'],
  params: params({
    year: integer('Default: the coming year.', 1_900, 2_200),
    week_start: choice('First day of the week. Default: monday.', ['monday', 'sunday']),
    focus: text('What it is for. Default: as the brief says.', { maxLength: 300 }),
    language: LANGUAGE,
  }),
  phases: [
    {
      slug: 'needs',
      title: 'Needs',
      artifact: { schema_slug: 'digital-planner/needs' },
      steps: [
        agent('needs', 'planner', {
          instructions: `
Describe the year of the person for whom this planner is made.

From the brief and the parameter \`focus\`: what they plan by the year, month and week, what recurs when, what they forget, why they gave up on their last planner, and when in the week they would open this one. Choose at most four areas of life or work that the planner serves; everything else stays out.`,
          output_schema: object({
            person: text('Who, and when they open it'),
            areas: list(object({ area: text('Name'), rhythm: text('What recurs when') }), 'Most important first', 1, 4),
            gave_up_because: text('What this planner must do otherwise'),
          }),
        }),
      ],
    },
    {
      slug: 'prompts',
      title: 'Prompts',
      depends_on: ['needs'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'digital-planner/prompts' },
      steps: [
        agent('write', 'writer', {
          skills: ['writing-style'],
          instructions: `
Write the twelve monthly themes and the weekly prompts for the person in the artifact of \`needs\`.

A theme belongs to its month and goes with a question that takes five minutes and changes a plan. Weekly prompts are one sentence of at most fifteen words; they ask for a decision, not for a mood. None is answered by yes. None could stand on a mug. Twelve to twenty-six of them; they come round again.`,
          output_schema: object({
            monthly: list(
              object({
                theme: text('Two to four words', { maxLength: 60 }),
                question: text('One question', { maxLength: 200 }),
              }),
              'January first',
              12,
              12,
            ),
            weekly: list(text('One sentence', { maxLength: 160 }), 'In the order of the weeks', 4, 53),
          }),
        }),
        agent('review', 'reviewer', {
          role: 'reviewer',
          instructions: `
Review the prompts as somebody who will meet them every week for a year.

Reject them when two ask the same, when one is a saying rather than a question, when a theme does not fit its month, or when they pass by the areas of the needs. Name each and give a better one.`,
        }),
      ],
    },
    {
      slug: 'habits',
      title: 'Habits',
      depends_on: ['needs'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'digital-planner/habits' },
      steps: [
        agent('choose', 'educator', {
          instructions: `
Choose the habits that this person ticks off, three to six.

Each serves an area of the artifact of \`needs\`, takes under ten minutes, is either done or not, and is tied to something that they do anyway. At most four words each: they stand in a narrow column.`,
          output_schema: object({
            habits: list(text('At most four words', { maxLength: 48 }), 'Easiest first', 3, 6),
            reason: text('Why these, for whoever approves'),
          }),
        }),
      ],
    },
    {
      slug: 'look',
      title: 'Look',
      depends_on: ['needs'],
      cascade_on_upstream_change: 'none',
      artifact: { schema_slug: 'digital-planner/look' },
      steps: [
        agent('design', 'designer', {
          tools: ['read_artifact', 'calculator'],
          skills: ['colour-and-contrast'],
          instructions: `
Choose three colours for a planner that is looked at every day and written on.

A quiet light background, ink with at least 7 to 1 on it, one accent for the tabs. It fits the person in the artifact of \`needs\` and is not tired of by March.`,
          output_schema: object({
            reason: text('Why these'),
            palette: palette({ background: '#faf8f4', ink: '#2a2d34', accent: '#7d4f3b' }),
          }),
        }),
      ],
    },
    {
      slug: 'planner',
      title: 'Planner',
      depends_on: ['prompts', 'habits', 'look'],
      cascade_on_upstream_change: 'strict',
      artifact: file('digital-planner/planner'),
      steps: [
        action('render', 'render_planner'),
        action('check', 'check_html', { role: 'tester', max_attempts: 1 }),
        gate('approve', 'human', {
          prompt: 'Open the planner and follow its tabs. Reject it to pause the project and change prompts or look.',
          on_reject: 'pause',
        }),
      ],
    },
  ],
});
