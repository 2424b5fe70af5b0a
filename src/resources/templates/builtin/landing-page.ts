/** A landing page: positioned, written and designed side by side, tested, and approved by another system. */
import { action, agent, defineTemplate, file, gate, LANGUAGE, list, object, palette, params, text } from './define.ts';

const BLOCK = object({ title: text('At most six words', { maxLength: 80 }), text: text('One or two sentences') });
const COPY = object({
  hero: object({
    headline: text('What they get or what it ends', { maxLength: 100 }),
    subline: text('For whom, and how', { maxLength: 240 }),
    button: text('What happens when it is pressed', { maxLength: 40 }),
    reassurance: text('What makes pressing it safe: price, duration, no card', { maxLength: 120 }),
  }),
  benefits: list(BLOCK, 'Strongest first', 3, 6),
  steps: list(BLOCK, 'From pressing the button to the first result', 3, 4),
  questions: list(object({ question: text('In their words'), answer: text('Straight') }), 'The real doubts', 3, 8),
  closing: object({ headline: text('The offer again', { maxLength: 100 }), text: text('Why now', { maxLength: 240 }) }),
  meta_title: text('For search results', { maxLength: 70 }),
  meta_description: text('For search results', { maxLength: 170 }),
});

export const landingPage = defineTemplate({
  slug: 'landing-page',
  title: 'Landing page',
  description:
    'Positions an offer, writes and designs its page in parallel, reviews and tests it, renders one self-contained ' +
    'HTML file, and waits for the approval of a legal or brand system.',
  collection: 'marketing',
  tags: ['landing page', 'copy', 'conversion', 'html'],
  params: params(
    {
      call_to_action_url: text('Where the button leads: an https address or mailto:', {
        maxLength: 2_000,
        pattern: '^(https?://|mailto:).+',
      }),
      product_name: text('Default: the name in the brief.', { maxLength: 100 }),
      brand: text('Colours and words that are fixed. Default: free choice.', { maxLength: 1_000 }),
      language: LANGUAGE,
    },
    ['call_to_action_url'],
  ),
  phases: [
    {
      slug: 'positioning',
      title: 'Positioning',
      artifact: { schema_slug: 'landing-page/positioning' },
      steps: [
        agent('visitor', 'researcher', {
          title: 'Who comes, and in doubt of what',
          tools: ['read_attachment', 'http_request'],
          skills: ['research-method'],
          instructions: `
Find out who arrives on this page and what holds them back.

From the brief and the attachments: the person, what they searched or clicked before, what they do today instead, what that costs them, and the five doubts in the order in which they arise, in their own words. Mark what is evidence and what is assumption.`,
        }),
        agent('position', 'planner', {
          title: 'Choose the position',
          instructions: `
Choose one position for the offer, and leave the others.

Against the alternative that the visitor uses today, say what is better for them and what can be proved. One promise, three reasons, one action. What the product cannot do is not hinted at.`,
          output_schema: object({
            visitor: text('Who, coming from where'),
            alternative: text('What they do today'),
            promise: text('One sentence that a competitor could not use'),
            reasons: list(
              object({ reason: text('Why it is true'), proof: text('What shows it') }),
              'Strongest first',
              3,
              3,
            ),
            doubts: list(text('In their words'), 'In the order in which they arise', 3, 6),
          }),
        }),
      ],
    },
    {
      slug: 'copy',
      title: 'Copy',
      depends_on: ['positioning'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'landing-page/copy', json_schema: COPY },
      steps: [
        agent('write', 'copywriter', {
          instructions: `
Write all words of the page from the artifact of \`positioning\`.

- The headline makes its promise; a stranger knows after it what is offered. The button says what happens next.
- Benefits are the reasons with their proof, told as the visitor's day afterwards. Steps lead to the first result.
- The questions are the doubts, in their order, answered straight: also price, effort and leaving again, as far as the brief says. Where it does not, write a marked gap in square brackets.
- No invented customers, numbers, ratings or scarcity.`,
        }),
        agent('review', 'reviewer', {
          role: 'reviewer',
          title: 'Read it as a doubtful visitor',
          instructions: `
Read the copy as the visitor of the positioning, tired and in doubt.

Reject it when you do not know after five seconds what is offered and for whom, when a claim has no proof in the positioning, when a doubt stays unanswered, or when the button does not say what happens. For each fault give the line and a better one.`,
        }),
      ],
    },
    {
      slug: 'look',
      title: 'Look',
      depends_on: ['positioning'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'landing-page/look' },
      steps: [
        agent('design', 'designer', {
          tools: ['read_artifact', 'read_attachment', 'calculator'],
          skills: ['colour-and-contrast'],
          instructions: `
Choose the look of the page: three colours and the reason for them.

The parameter \`brand\` is binding where it names colours. Otherwise derive them from the world of the visitor in the artifact of \`positioning\`, not from the fashion of software pages. The text has at least 4.5 to 1 on the background (calculate it); the accent is seen at once and used for nothing but the action.`,
          output_schema: object({
            idea: text('What the page feels like, and what it must not'),
            palette: palette({ background: '#fbfaf7', ink: '#1d2430', accent: '#0b6b5d' }),
          }),
        }),
      ],
    },
    {
      slug: 'page',
      title: 'Page',
      depends_on: ['positioning', 'copy', 'look'],
      cascade_on_upstream_change: 'strict',
      artifact: file('landing-page/page'),
      steps: [
        agent('finish', 'editor', {
          title: 'Final copy',
          skills: ['writing-style'],
          instructions: `
Bring the copy of the page into its final form and return it whole.

Take the artifact of \`copy\` and correct spelling, consistency and line lengths: no headline over two lines on a telephone. Resolve every gap in square brackets from the brief, or cut the sentence that needs it. Claims stay as they were reviewed. Feedback of a test, of legal or of the brand is carried out to the letter.`,
          output_schema: COPY,
        }),
        action('preview', 'render_landing_page', { role: 'utility', depends_on: ['finish'] }),
        action('check', 'check_html', { role: 'tester', depends_on: ['preview'] }),
        // The gate stands before the rendering, so that a rejection goes to whoever can change the words.
        gate(
          'compliance',
          'webhook',
          { on_reject: 'rework', expires_in_s: 30 * 86_400 },
          { title: 'Approval of legal and brand' },
        ),
        action('render', 'render_landing_page', { depends_on: ['finish', 'compliance'] }),
      ],
    },
  ],
});
