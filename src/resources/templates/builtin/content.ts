/** A content package: one article and what is made of it, planned together and held until its time. */
import { action, agent, choice, defineTemplate, file, gate, LANGUAGE, list, object, params, text } from './define.ts';

const MESSAGE = object({
  audience: text('Whom it is for'),
  message: text('The one sentence that all pieces say'),
  proof: list(text('Reason to believe it'), 'Only what the brief or an attachment supports', 1, 8),
  voice: text('How it sounds, with two words to use and two to avoid'),
});

export const content = defineTemplate({
  slug: 'content',
  title: 'Content package',
  description:
    'Turns a brief into a strategy, a pillar article, a newsletter, social posts and a publication calendar, as one ' +
    'Markdown document that is released after a pause for second thoughts.',
  collection: 'writing',
  tags: ['content', 'newsletter', 'social', 'markdown'],
  params: params({
    audience: text('Whom it is for. Default: chosen in the strategy.', { maxLength: 500 }),
    channels: list(text('Network', { maxLength: 40 }), 'Default: LinkedIn, Mastodon and Instagram.', 1, 6),
    start_date: text('First day of the calendar, such as 2027-03-01. Default: next Monday.', { maxLength: 10 }),
    language: LANGUAGE,
  }),
  phases: [
    {
      slug: 'strategy',
      title: 'Strategy',
      artifact: { schema_slug: 'content/strategy', json_schema: MESSAGE },
      steps: [
        agent('audience', 'analyst', {
          title: 'Study the audience',
          instructions: `
Study the audience that this content has to move.

Say what they do today, what that costs them, what they have heard too often, and where they already are on the way to acting. Take \`audience\` from the parameters when it is given. Keep observations from the brief and attachments apart from your assumptions.`,
        }),
        agent('proof', 'researcher', {
          title: 'Collect the proof',
          depends_on: [],
          tools: ['read_attachment', 'http_request'],
          skills: ['research-method'],
          instructions: `
Collect what can be proved about the subject of the brief.

List facts, figures, cases and quotations with their sources, attachments first. Mark each as given, checked or unchecked. A claim without a source may not become an argument.`,
        }),
        agent('message', 'planner', {
          role: 'assembler',
          title: 'Decide the message',
          depends_on: ['audience', 'proof'],
          instructions: `
Decide on one audience, one message and the proof that carries it.

Everything else in this package repeats that message in another form, so it must fit into one sentence and exclude something. Drop every proof that is only impressive.`,
        }),
      ],
    },
    {
      slug: 'article',
      title: 'Pillar article',
      depends_on: ['strategy'],
      artifact: { schema_slug: 'content/article' },
      steps: [
        agent('write', 'writer', {
          timeout_s: 1_200,
          skills: ['writing-style'],
          instructions: `
Write the pillar article of 1,200 to 1,500 words in Markdown.

It makes the full case for the message of the artifact of \`strategy\`: the reader's situation, why the usual way fails, the other way, the proof, what to do on Monday. Use its voice. Every proof stands where the doubt arises. Newsletter and posts are cut from this text, so give it five sentences that can stand alone.`,
          output_schema: object({ title: text('Title', { maxLength: 120 }), content: text('The article in Markdown') }),
        }),
        agent('review', 'reviewer', {
          role: 'reviewer',
          instructions: `
Judge whether this article would move the audience of the strategy.

Reject it when the message is not clear by the end of the second paragraph, when a claim lacks the proof that the strategy lists, or when the voice slips. Quote the place, say what is wrong and what would be right.`,
        }),
      ],
    },
    {
      slug: 'newsletter',
      title: 'Newsletter',
      depends_on: ['strategy', 'article'],
      artifact: { schema_slug: 'content/newsletter' },
      steps: [
        agent('write', 'copywriter', {
          instructions: `
Write the newsletter that brings subscribers to the article.

In Markdown: three subject lines of at most 45 characters, a preview text, a body of 150 to 220 words with one story or number from the artifact of \`article\`, and one link marked [article]. It must be worth the two minutes even to those who do not follow the link.`,
          output_schema: object({ title: text('Subject line', { maxLength: 60 }), content: text('In Markdown') }),
        }),
      ],
    },
    {
      slug: 'social',
      title: 'Social posts',
      depends_on: ['strategy', 'article'],
      artifact: { schema_slug: 'content/social' },
      steps: [
        agent('write', 'copywriter', {
          instructions: `
Write the social posts, three for each network.

The networks are the \`channels\` of the parameters, else LinkedIn, Mastodon and Instagram. In Markdown, a level-two heading a network. Each post begins with its strongest line, makes one point of the artifact of \`article\`, and keeps to the length and manners of its network. The three of a network differ in form: a number, a story, a question that is really one.`,
          output_schema: object({ title: text('Title', { maxLength: 60 }), content: text('In Markdown') }),
        }),
        agent('review', 'editor', {
          role: 'reviewer',
          instructions: `
Check the posts against the article and the manners of their networks.

Reject them when a post says more than the article proves, when two make the same point, or when one is too long for its network. Name the post and the change.`,
        }),
      ],
    },
    {
      slug: 'calendar',
      title: 'Publication calendar',
      depends_on: ['newsletter', 'social'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'content/calendar' },
      steps: [
        agent('schedule', 'planner', {
          tools: ['current_time', 'calculator', 'read_artifact'],
          skills: ['planning'],
          instructions: `
Schedule all pieces over two weeks, in a Markdown table.

Columns: date, weekday, time, channel, piece, what to look at two days later. The article goes first and the newsletter the morning after. No channel has two pieces on one day. Begin on \`start_date\`, else on next Monday; ask current_time for today.`,
          output_schema: object({
            title: text('Title', { maxLength: 60 }),
            content: text('The calendar in Markdown'),
            pace: choice('How dense it is', ['relaxed', 'steady', 'dense']),
          }),
        }),
      ],
    },
    {
      slug: 'package',
      title: 'Package',
      depends_on: ['article', 'newsletter', 'social', 'calendar'],
      cascade_on_upstream_change: 'strict',
      artifact: file('content/package'),
      steps: [
        gate('hold', 'schedule', { delay_s: 10 }, { title: 'Pause for second thoughts', depends_on: [] }),
        action('assemble', 'assemble_markdown', { instructions: 'article, newsletter, social, calendar' }),
      ],
    },
  ],
});
