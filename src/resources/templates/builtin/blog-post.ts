/** A blog post: researched, outlined, drafted, reviewed, approved by a person, copy-edited and laid out as a page. */
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
  SVG_RULES,
  text,
} from './define.ts';

export const blogPost = defineTemplate({
  slug: 'blog-post',
  title: 'Blog post',
  description:
    'Researches a subject, outlines and drafts an article, has it reviewed and approved, adds a cover and a search ' +
    'listing, and lays it out as a self-contained HTML page.',
  collection: 'writing',
  tags: ['article', 'blog', 'marketing', 'html'],
  params: params({
    audience: text('Who reads it. Default: the people whom the brief concerns most.', { maxLength: 500 }),
    tone: text('How it sounds. Default: clear and direct, as to a colleague.', { maxLength: 200 }),
    length_words: integer('Default: about 1,000 words.', 300, 4_000),
    keywords: list(text('Search term', { maxLength: 100 }), 'What readers search for, most important first', 0, 10),
    language: LANGUAGE,
  }),
  phases: [
    {
      slug: 'research',
      title: 'Research',
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'blog-post/research' },
      steps: [
        agent('facts', 'researcher', {
          title: 'Gather the facts',
          tools: ['read_attachment', 'http_request', 'current_time'],
          max_attempts: 2,
          skills: ['research-method'],
          instructions: `
Gather what an article on the subject of the brief can stand on.

- Begin with the attachments of the project: they count more than anything you know.
- List 6 to 12 facts that are specific enough to quote. Give each its source, or say "general knowledge, unchecked".
- Keep what contradicts the brief; a reader will find it too.
- Note what is not known and would have to be. Do not fill such a gap with a guess.`,
          output_schema: object({
            facts: list(
              object({
                statement: text('One fact, with date or name where it has one'),
                source: text('Where it comes from; "general knowledge, unchecked" where from nowhere else'),
                confidence: choice('How sure it is', ['high', 'medium', 'low']),
              }),
              'Most useful first',
            ),
            unknowns: list(text('A gap'), 'What could not be found out', 0, 10),
          }),
        }),
        agent('readers', 'analyst', {
          title: 'Know the readers',
          depends_on: [],
          instructions: `
Describe the readers of this article and what they have read already.

Use the parameter \`audience\` when it is given. Name the situation in which somebody looks for this, the question in their words, what usual articles answer, and what those leave out. Propose three angles; for each, say which reader it would make forward the article to somebody else.`,
          output_schema: object({
            reader: text('Who, in which situation'),
            question: text('What they ask, in their words'),
            angles: list(object({ angle: text('The claim'), appeal: text('For whom, and why') }), 'Best first', 1, 5),
          }),
        }),
        agent('notes', 'researcher', {
          title: 'Put the notes together',
          role: 'assembler',
          depends_on: ['facts', 'readers'],
          instructions: `
Put facts and readers together into the notes that the article will be written from.

Choose the one angle that the facts can carry. Keep only facts that serve it, with their sources, and say in one sentence what the article will claim. Whoever outlines it sees these notes and the brief, nothing else.`,
          output_schema: object({
            angle: text('The claim of the article, one sentence that somebody could disagree with'),
            reader: text('Who it is for, and the question that brings them'),
            evidence: list(object({ fact: text('Fact'), source: text('Source') }), 'What carries the angle'),
            caveats: list(text('Caveat'), 'What must be said for the claim to be fair', 0, 10),
          }),
        }),
      ],
    },
    {
      slug: 'outline',
      title: 'Outline',
      depends_on: ['research'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'blog-post/outline' },
      steps: [
        agent('outline', 'outliner', {
          instructions: `
Outline the article that the artifact of \`research\` makes possible.

- The working title makes the claim. No colon constructions, no "ultimate guide".
- 4 to 6 sections. Each heading says something on its own; read in a row they tell the argument.
- Under each: what the reader learns, and which evidence of the research is used there. Each piece is used once.
- The opening has something at stake for this reader. The end is a consequence, not a summary.`,
          output_schema: object({
            title: text('Working title', { maxLength: 120 }),
            opening: text('How it begins'),
            sections: list(
              object({ heading: text('Heading'), point: text('What the reader learns'), evidence: text('Used here') }),
              'In reading order',
              3,
              10,
            ),
            ending: text('What the reader leaves with'),
          }),
        }),
      ],
    },
    {
      slug: 'draft',
      title: 'Draft and approval',
      depends_on: ['research', 'outline'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'blog-post/draft' },
      steps: [
        agent('write', 'writer', {
          title: 'Write the draft',
          timeout_s: 1_200,
          skills: ['writing-style'],
          instructions: `
Write the whole article in Markdown, following the artifact of \`outline\`.

- Keep to its order and claims. Take facts from the artifact of \`research\` only, and link or name the source where a claim would be doubted.
- Length: the parameter \`length_words\`, else about 1,000 words. Tone: the parameter \`tone\`, else clear and direct, as to a colleague.
- Work the \`keywords\` in where they would stand anyway, the first in the title or the opening. Never bend a sentence for one.
- One level-one title, level-two sections. Short paragraphs. Examples before abstractions.
- Feedback of a reviewer or a person is carried out point by point; what was not criticised stays as it is.`,
          output_schema: object({ title: text('Title', { maxLength: 120 }), content: text('The article in Markdown') }),
        }),
        agent('review', 'reviewer', {
          role: 'reviewer',
          title: 'Review the draft',
          skills: ['fact-checking'],
          instructions: `
Review the draft as the editor who will answer for it.

Reject it when a claim has no support in the research, when the outline's argument is missing a step, when the opening could open any other article, or when it is more than a fifth away from the length asked for. Name each fault with its place and say what would mend it. Taste alone is no reason to reject. When you approve, say in one line what must survive the copy-edit.`,
        }),
        gate('approve', 'human', {
          prompt:
            'Read the draft. Approve it for publication, or reject it with what should change: it is then rewritten.',
          on_reject: 'rework',
        }),
      ],
    },
    {
      slug: 'cover',
      title: 'Cover illustration',
      depends_on: ['outline'],
      cascade_on_upstream_change: 'none',
      artifact: { schema_slug: 'blog-post/cover' },
      steps: [
        agent('draw', 'illustrator', {
          skills: ['svg-drawing'],
          instructions: `
Draw a cover for the article that the artifact of \`outline\` describes.

Find one image for its claim, not for its subject area: no light bulbs, rockets, handshakes or puzzle pieces. No words in the picture. Format 16 to 9, \`viewBox="0 0 1600 900"\`, background filled to the edges, at most five colours.
${SVG_RULES}`,
          output_schema: object({
            svg: text('The drawing'),
            alt: text('What is seen, for those who do not see it, in one sentence', { maxLength: 200 }),
          }),
        }),
      ],
    },
    {
      slug: 'listing',
      title: 'Search listing',
      depends_on: ['research', 'outline'],
      cascade_on_upstream_change: 'none',
      artifact: { schema_slug: 'blog-post/listing' },
      steps: [
        agent('listing', 'copywriter', {
          tools: ['read_artifact', 'calculator'],
          instructions: `
Write how the article appears in search results and when somebody shares it.

The title of at most 60 characters makes the claim of the artifact of \`outline\` and holds the first of the \`keywords\`, if there are any. The description of at most 155 characters says what the reader will know afterwards. Promise nothing that the outline does not keep.`,
          output_schema: object({
            meta_title: text('At most 60 characters', { maxLength: 70 }),
            meta_description: text('At most 155 characters', { maxLength: 170 }),
            tags: list(text('Tag', { maxLength: 40 }), 'For the blog', 1, 8),
          }),
        }),
      ],
    },
    {
      slug: 'post',
      title: 'Finished post',
      depends_on: ['draft', 'cover', 'listing'],
      cascade_on_upstream_change: 'strict',
      artifact: file('blog-post/page'),
      steps: [
        agent('copy-edit', 'editor', {
          title: 'Copy-edit',
          skills: ['writing-style'],
          instructions: `
Copy-edit the approved article, the artifact of \`draft\`, and return it whole.

It was approved by a person: correct spelling, grammar, punctuation, inconsistent terms, broken Markdown and links without text. Cut words that do nothing. Change no claim, no order and no heading's meaning. When a test of the page reported findings, mend what causes them in the text.`,
          output_schema: object({ title: text('Title', { maxLength: 120 }), content: text('The article in Markdown') }),
        }),
        action('preview', 'render_html_page', {
          role: 'utility',
          depends_on: ['copy-edit'],
          instructions: 'copy-edit',
        }),
        action('check', 'check_html', { role: 'tester', depends_on: ['preview'] }),
        action('page', 'render_html_page', { depends_on: ['copy-edit', 'check'], instructions: 'copy-edit' }),
      ],
    },
  ],
});
