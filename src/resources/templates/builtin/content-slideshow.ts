/** A slide deck: a storyline that a person approves before slides, notes and look are made from it. */
import {
  integer,
  action,
  agent,
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

export const contentSlideshow = defineTemplate({
  slug: 'content-slideshow',
  title: 'Slideshow',
  description:
    'Finds the storyline of a talk, has it approved, writes slides and speaker notes, and renders an HTML deck that is ' +
    'turned with the arrow keys and prints a page a slide.',
  collection: 'presentations',
  tags: ['slides', 'talk', 'presentation', 'html'],
  params: params({
    slides: integer('How many, without the title. Default: 10.', 3, 40),
    minutes: integer('Length of the talk. Default: two a slide.', 1, 120),
    audience: text('Who listens. Default: those whom the brief names.', { maxLength: 500 }),
    language: LANGUAGE,
  }),
  phases: [
    {
      slug: 'storyline',
      title: 'Storyline',
      artifact: { schema_slug: 'content-slideshow/storyline' },
      steps: [
        agent('storyline', 'outliner', {
          instructions: `
Find the storyline of this talk: what the audience believes before, and what it believes and does after.

- As many messages as the parameter \`slides\`, else 10. Each is a whole sentence that can be true or false.
- Read in a row, the messages alone make the case. The first names what is at stake, the last what to do.
- Under each, what the audience would object, and the evidence from the brief or the attachments that answers it.
- Whatever is interesting and not needed is left out.`,
          output_schema: object({
            before: text('What they believe now'),
            after: text('What they believe and do afterwards'),
            messages: list(
              object({
                message: text('A whole sentence'),
                evidence: text('What shows it'),
                objection: text('What they say'),
              }),
              'In order',
              3,
              40,
            ),
          }),
        }),
        gate('approve', 'human', {
          prompt: 'Is this the talk that you want to give? Reject it with what should change before slides are made.',
          on_reject: 'rework',
        }),
      ],
    },
    {
      slug: 'slides',
      title: 'Slides',
      depends_on: ['storyline'],
      artifact: { schema_slug: 'content-slideshow/slides' },
      steps: [
        agent('write', 'copywriter', {
          instructions: `
Write one slide for each message of the artifact of \`storyline\`, in its order.

The title is the message in at most twelve words. Below it at most four points of at most ten words, parallel in form; they show the evidence, they do not repeat the title. The takeaway is what somebody writes down. A slide that needs no points has one strong one.`,
          output_schema: object({
            slides: list(
              object({
                title: text('The message', { maxLength: 140 }),
                points: list(text('At most ten words', { maxLength: 160 }), 'One to four', 1, 4),
                takeaway: text('What somebody writes down', { maxLength: 200 }),
              }),
              'One a message',
              3,
              40,
            ),
          }),
        }),
        agent('review', 'reviewer', {
          role: 'reviewer',
          instructions: `
Review the deck from the last row of the room.

Reject it when the titles in a row do not tell the storyline, when a slide has two messages or more than about forty words, when a number has no unit or no comparison, or when a point says what the title said. Name the slide by number and write the better version.`,
        }),
      ],
    },
    {
      slug: 'look',
      title: 'Look',
      depends_on: ['storyline'],
      cascade_on_upstream_change: 'none',
      artifact: { schema_slug: 'content-slideshow/look' },
      steps: [
        agent('design', 'designer', {
          tools: ['read_artifact', 'calculator'],
          skills: ['colour-and-contrast'],
          instructions: `
Choose three colours for the deck that fit its subject and its room.

A dark background for a large dark hall, a light one for a meeting room; the brief decides, else light. The text has at least 7 to 1 on the background, because projectors wash out. The accent marks and never carries text.`,
          output_schema: object({
            reason: text('Why these'),
            palette: palette({ background: '#f7f5ef', ink: '#20222b', accent: '#c8452f' }),
          }),
        }),
      ],
    },
    {
      slug: 'speech',
      title: 'Speaker notes',
      depends_on: ['storyline', 'slides'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'content-slideshow/speech' },
      steps: [
        agent('notes', 'writer', {
          tools: ['read_artifact', 'calculator'],
          instructions: `
Write what the speaker says at each slide of the artifact of \`slides\`, in the same order and number.

Spoken language, in the first person. Say what is not on the slide: the example, the story behind the the answer to the objection in the storyline. End each with the sentence that leads to the next. All together fit the parameter \`minutes\`, else two minutes a slide, at 130 words a minute.`,
          output_schema: object({
            notes: list(object({ text: text('What is said') }), 'One a slide', 3, 40),
          }),
        }),
      ],
    },
    {
      slug: 'deck',
      title: 'Deck',
      depends_on: ['slides', 'look', 'speech'],
      cascade_on_upstream_change: 'strict',
      artifact: file('content-slideshow/deck'),
      steps: [action('render', 'render_slides')],
    },
  ],
});
