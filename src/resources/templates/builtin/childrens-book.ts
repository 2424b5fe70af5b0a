/** A picture book: an idea that a person chooses, a story two readers test, pictures that keep their characters. */
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
  SVG_RULES,
  text,
} from './define.ts';

export const childrensBook = defineTemplate({
  slug: 'childrens-book',
  title: "Children's picture book",
  description:
    'Invents a story for a child, has the idea approved and the text tested for age and sound, draws a scene for every ' +
    'page, and binds it into a picture book in HTML.',
  collection: 'books',
  tags: ['children', 'story', 'illustration', 'html'],
  params: params({
    age_range: choice('Age of the child. Default: 4-6.', ['0-3', '4-6', '7-9']),
    pages: integer('How many pages with a picture. Default: 10.', 3, 24),
    child_name: text('A child who is the hero. Default: invented.', { maxLength: 60 }),
    language: LANGUAGE,
  }),
  phases: [
    {
      slug: 'idea',
      title: 'Idea',
      artifact: { schema_slug: 'childrens-book/idea' },
      steps: [
        agent('idea', 'storyteller', {
          instructions: `
Invent the story of a picture book from the brief.

A small hero who wants something that a child of the \`age_range\` (else 4-6) can want. An obstacle that grows three times, a turn that the hero brings about and no grown-up, an end that answers the beginning. What it is about is never said aloud. The hero has the \`child_name\` when there is one. One thing in it is funny every time it comes back.`,
          output_schema: object({
            title: text('Title of the book', { maxLength: 80 }),
            hero: text('Who, with a habit and a wish'),
            arc: list(text('What happens'), 'Beginning, three attempts, turn, end', 3, 8),
            refrain: text('The sentence that comes back and can be joined in'),
            under_the_story: text('What it is about, for grown-ups'),
          }),
        }),
        gate('choose', 'human', {
          prompt: 'Would you like to read this story aloud? Reject it with a wish, and another is invented.',
          on_reject: 'rework',
        }),
      ],
    },
    {
      slug: 'manuscript',
      title: 'Manuscript',
      depends_on: ['idea'],
      artifact: { schema_slug: 'childrens-book/manuscript' },
      steps: [
        agent('write', 'storyteller', {
          skills: ['read-aloud'],
          instructions: `
Write the text of the book from the artifact of \`idea\`, page by page.

- As many pages as the parameter \`pages\`, else 10. Up to 25 words a page for 0-3, 45 for 4-6, 80 for 7-9.
- Every page has one moment that can be drawn, and ends so that a child wants it turned.
- Written for the ear: rhythm, real verbs, speech. The refrain comes at least three times, the last time changed.
- What the picture will show is not said in words.`,
          output_schema: object({
            title: text('Title of the book', { maxLength: 80 }),
            pages: list(
              object({ text: text('What is read aloud'), picture: text('What is seen: place, who, doing what, mood') }),
              'In order',
              3,
              24,
            ),
          }),
        }),
        agent('age-check', 'educator', {
          role: 'reviewer',
          title: 'Is it right for the age?',
          depends_on: ['write'],
          instructions: `
Judge whether a child of the age range can follow this book, and should.

Reject it when a word or a sentence is too hard to understand from its context, when fear is not resolved on the next page, when a danger could be imitated, when somebody is laughed at for what they are, or when the pages are too long for the age. Give the page and another wording.`,
        }),
        agent('read-aloud', 'editor', {
          role: 'reviewer',
          title: 'Does it sound?',
          depends_on: ['write'],
          skills: ['read-aloud'],
          instructions: `
Read the book aloud to yourself and judge its sound.

Reject it when a sentence makes the tongue stumble, when a rhyme is forced, when a page has no reason to be turned, or when the end explains the story. Give the page and how it should go.`,
        }),
      ],
    },
    {
      slug: 'cast',
      title: 'Characters and colours',
      depends_on: ['idea'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'childrens-book/cast' },
      steps: [
        agent('design', 'designer', {
          skills: ['colour-and-contrast'],
          instructions: `
Design the characters and the colours of the book in the artifact of \`idea\`, so that every page shows the same ones.

For each character: the basic shapes, proportions in heads, hex colours of each part, three marks by which a child knows it again, and how joy and worry look. Then the world: horizon, ground, light, five colours that all pages share.`,
          output_schema: object({
            characters: list(
              object({
                name: text('Name'),
                look: text('Shapes, proportions, colours, marks'),
                height: number('In heads', 1, 10),
              }),
              'The hero first',
              1,
              8,
            ),
            world: text('Place, light and line'),
            palette: palette({ background: '#fff7e8', ink: '#2c2340', accent: '#e2703a' }),
          }),
        }),
      ],
    },
    {
      slug: 'pictures',
      title: 'Pictures',
      depends_on: ['manuscript', 'cast'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'childrens-book/pictures' },
      steps: [
        agent('draw', 'illustrator', {
          timeout_s: 1_800,
          max_attempts: 4,
          skills: ['svg-drawing'],
          instructions: `
Draw the picture of every page of the artifact of \`manuscript\`, in its order, with the characters of the artifact of \`cast\`.

\`viewBox="0 0 800 600"\`, background filled to the edges. The eye goes first to the hero, who looks or moves to the right, where the page is turned. Change the distance: far, near, from above. Shapes, proportions and hex colours are those of the cast on every page. No words in the pictures.
${SVG_RULES}`,
          output_schema: object({
            scenes: list(
              object({
                svg: text('The picture'),
                alt: text('What is seen, as one would tell a child', { maxLength: 300 }),
              }),
              'One a page',
              3,
              24,
            ),
          }),
        }),
        agent('continuity', 'reviewer', {
          role: 'reviewer',
          title: 'Are they the same characters?',
          instructions: `
Compare the pictures with the cast and the manuscript, page by page.

Reject them when a character changes shape, size or colour without reason, when a picture contradicts its page or is missing, when the mood is wrong, or when an SVG is incomplete. Give the page, the element and the right value.`,
        }),
      ],
    },
    {
      slug: 'book',
      title: 'Book',
      depends_on: ['manuscript', 'cast', 'pictures'],
      cascade_on_upstream_change: 'strict',
      artifact: file('childrens-book/book'),
      steps: [action('bind', 'render_storybook')],
    },
  ],
});
