/** A sticker pack: an idea, drawings that belong together, a sheet to print, and a print shop that says it can. */
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

export const stickerPack = defineTemplate({
  slug: 'sticker-pack',
  title: 'Sticker pack',
  description:
    'Designs a set of stickers and their shop listing, lays them out on an A4 sheet in SVG with cut lines, and waits ' +
    'for the confirmation of the print shop.',
  collection: 'design',
  tags: ['stickers', 'illustration', 'print', 'svg'],
  params: params({
    count: integer('How many stickers. Default: 6.', 1, 24),
    style: text('How they are drawn. Default: bold flat shapes with a thick outline.', { maxLength: 300 }),
    language: LANGUAGE,
  }),
  phases: [
    {
      slug: 'concept',
      title: 'Concept',
      artifact: { schema_slug: 'sticker-pack/concept' },
      steps: [
        agent('concept', 'designer', {
          instructions: `
Design the concept of a sticker pack that people put on their own laptop.

- One character, object or joke runs through all of them. Say what it is and what it is never.
- As many stickers as the parameter \`count\`, else 6. Each has a different mood or use; somebody would pick a favourite.
- Each must be recognised from its silhouette at 5 cm. Words only where they are the joke, at most three.
- No brand, no living person, no protected character, nothing that hurts.
- Style: the parameter \`style\`, else bold flat shapes with a thick outline.`,
          output_schema: object({
            idea: text('What holds the pack together'),
            style: text('Outline, corners, shading, and the five hex colours that all share'),
            stickers: list(
              object({ name: text('Name', { maxLength: 40 }), motif: text('What is seen, its pose and mood') }),
              'In the order of the sheet',
              1,
              24,
            ),
          }),
        }),
        agent('review', 'reviewer', {
          role: 'reviewer',
          title: 'Check ideas and rights',
          instructions: `
Check the concept for sameness and for rights.

Reject it when two stickers would be mistaken for one another, when a motif cannot be drawn with flat shapes, when one resembles a brand, a person or a protected character, or when the number is wrong. Say which and why, and propose a replacement.`,
        }),
      ],
    },
    {
      slug: 'drawings',
      title: 'Drawings',
      depends_on: ['concept'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'sticker-pack/drawings' },
      steps: [
        agent('draw', 'illustrator', {
          timeout_s: 1_800,
          skills: ['svg-drawing'],
          instructions: `
Draw every sticker of the artifact of \`concept\`, in its order and its style.

Each has \`viewBox="0 0 200 200"\`, a transparent background, and a white border of 6 units around the whole silhouette for the knife. Outlines have the same width throughout; the light comes from the upper left in all of them.
${SVG_RULES}`,
          output_schema: object({
            stickers: list(
              object({
                name: text('As in the concept', { maxLength: 40 }),
                svg: text('The drawing'),
                alt: text('What is seen, in one sentence', { maxLength: 200 }),
              }),
              'In the order of the concept',
              1,
              24,
            ),
          }),
        }),
        agent('inspect', 'tester', {
          role: 'tester',
          title: 'Inspect the drawings',
          instructions: `
Inspect each drawing as a print technician would.

Test that every sticker of the concept is there once, that each SVG is complete and has the viewBox asked for, that nothing leaves it, that the colours are those of the concept, and that no line is thinner than 2 units. Passed means that all of them can go to print. A finding names the sticker, the element and the fault.`,
        }),
      ],
    },
    {
      slug: 'shop',
      title: 'Shop listing',
      depends_on: ['concept'],
      cascade_on_upstream_change: 'none',
      artifact: { schema_slug: 'sticker-pack/shop' },
      steps: [
        agent('listing', 'copywriter', {
          instructions: `
Write the shop listing of the pack that the artifact of \`concept\` describes.

A name of at most four words, a description of 60 to 90 words that says where people stick them and why they smile, the material line [vinyl, matt, about 5 cm], and search terms that buyers of such a pack type. No superlatives and no claim about durability that the brief does not make.`,
          output_schema: object({
            pack_name: text('Name of the pack', { maxLength: 60 }),
            description: text('For buyers'),
            search_terms: list(text('Term', { maxLength: 40 }), 'Most specific first', 3, 13),
            mood: choice('Shelf it stands on', ['funny', 'cute', 'cool', 'calm', 'political']),
          }),
        }),
      ],
    },
    {
      slug: 'sheet',
      title: 'Print sheet',
      depends_on: ['drawings', 'shop'],
      cascade_on_upstream_change: 'strict',
      artifact: file('sticker-pack/sheet'),
      steps: [
        action('layout', 'render_sticker_sheet', { title: 'Lay out the sheet', instructions: 'drawings' }),
        gate(
          'print-shop',
          'webhook',
          { on_reject: 'pause', expires_in_s: 14 * 86_400 },
          { title: 'Confirmation of the print shop' },
        ),
      ],
    },
  ],
});
