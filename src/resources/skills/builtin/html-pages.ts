import { defineSkill } from './define.ts';

export const htmlPages = defineSkill({
  slug: 'html-pages',
  title: 'HTML pages',
  description: 'Self-contained pages that work on a phone, with a keyboard and for a screen reader.',
  category: 'web',
  agents: ['coder', 'designer', 'tester'],
  body: `
# Skeleton

\`<!doctype html>\`, \`<html lang>\` of the text's language, \`<meta charset="utf-8">\`, \`<meta name="viewport" content="width=device-width, initial-scale=1">\`, a \`<title>\` that makes sense in a list of tabs. One \`<main>\`, one \`<h1>\`, headings in order without gaps. Style and script are inline: the page opens from a disk without a network.

# Meaning before looks

- \`button\` for what acts, \`a href\` for what leads somewhere, \`label\` for every field, \`fieldset\` for choices that belong together, \`table\` with \`th scope\` for tables and for nothing else.
- Every picture has \`alt\`: what it says, or \`alt=""\` when it says nothing.
- ARIA only where no element says it. A \`div\` with a click handler is a mistake.

# Layout

- Write for 360 pixels first, then add room with \`min-width\` queries. Grid for the page, flex for a row.
- Text: 16 px or more, line height 1.5, lines of at most 70 characters (\`max-width: 65ch\`).
- Spaces from one scale (4, 8, 16, 24, 40, 64 px). Sizes in \`rem\`.
- Targets for fingers are at least 44 by 44 px.
- Contrast 4.5 to 1 for text, 3 to 1 for large text and for edges that mean something; see [[colour-and-contrast]].
- \`prefers-reduced-motion\` switches movement off.

# Forms and states

Show what is required before it is missing. An error stands next to its field, says what to do, and is tied to it with \`aria-describedby\`. Every list has a state for empty, loading and failed. What is destroyed can be undone or asks first.

# Script

Little, at the end, without libraries. Text from people goes in with \`textContent\`, never \`innerHTML\`. No inline handlers. The page says its piece without script where it can.

# Before you hand it over

1. Only the Tab key: is everything reachable, is the focus visible, is the order that of the page?
2. 360 px wide: nothing scrolls sideways.
3. Text at 200 per cent: nothing is cut off.
4. Every tag closed, every id unique, no request to anywhere.`,
});
