import { defineSkill } from './define.ts';

export const svgDrawing = defineSkill({
  slug: 'svg-drawing',
  title: 'SVG drawing',
  description: 'Vector pictures that open everywhere: composition, shapes, figures, and the traps of the format.',
  category: 'drawing',
  agents: ['illustrator', 'animator', 'designer'],
  body: `
# Frame

- One root: \`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 W H" role="img">\` with \`<title>\` first. No width and height, so that it scales.
- Plan on a grid of eight columns and eight rows. Write down where the big shapes lie, as numbers, before the first path. [[calculator]] for everything that must meet.
- The background is a rectangle over the whole viewBox, unless the picture is to be transparent.

# Composition

- One thing is seen first: the largest, the brightest or the only one of its colour. It lies near a third, not in the middle, unless it is a sign.
- Three sizes: one large mass, two or three middle ones, a handful of small ones.
- Overlap instead of lining up. Leave a tenth of the width free at the edges.
- Squint: if the silhouettes alone do not tell the story, move the masses before you add detail.

# Shapes

- Circles, ellipses and rounded rectangles first; paths for what they cannot do.
- A smooth curve is few points: \`C\` and \`S\`, with handles along the direction of travel. A bump where two curves meet means that their handles are not in one line.
- Symmetric things: draw one half, then \`transform="scale(-1 1)"\` of a group around its axis.
- Repeat with \`<use href="#id">\`; put gradients, clips and shared parts into \`<defs>\`.
- Group back to front and name the groups: \`<g id="hills">\`.

# Figures

- Head, body and limbs as overlapping ovals; the line of action is one curve from head to foot.
- Eyes sit on the middle of the head, lower and wider apart for the young. A highlight and a direction of gaze make them alive.
- A shadow on the ground, an ellipse of low opacity, keeps it from floating.

# Colour

At most five with their tints. [[colour-and-contrast]] helps to choose. One light: the same side of everything is bright.

# Traps

- Every tag closed, every attribute quoted, every \`id\` used and unique; \`&\` in text is \`&amp;\`.
- No script, style sheet, event attribute, foreignObject, outside image, font or link: they are removed or refused.
- \`fill\` is black where none is given. An open path with a stroke wants \`fill="none"\`.
- Numbers with one decimal. Under 60 KB.`,
});
