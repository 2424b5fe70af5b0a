import { defineSkill } from './define.ts';

export const colourAndContrast = defineSkill({
  slug: 'colour-and-contrast',
  title: 'Colour and contrast',
  description: 'Palettes that fit their purpose and can be read: roles, harmony, contrast figures, print and screen.',
  category: 'drawing',
  agents: ['designer', 'illustrator', 'animator'],
  body: `
# Roles before colours

A palette is a list of jobs: background, surface, text, quiet text, accent, and what means good, careful and bad. Name the job first; a colour without a job is left out. Five colours draw a picture, seven dress a page.

# Choosing

1. Mood in one word (calm, loud, warm, exact) gives the main hue.
2. One accent, opposite or a third around the wheel, on at most a tenth of the area.
3. Everything else is the main hue, paler or darker, or a grey that leans towards it. Pure black and pure white look harsh: #14181f and #fbfaf7 do the same work.
4. Steps of lightness must be seen in grey: background 97, surface 92, line 80, quiet text 45, text 15 (per cent).
5. Shadows are the colour, darker and shifted towards blue; lights are shifted towards yellow.

# Contrast

Relative luminance: each channel c / 255, then c / 12.92 up to 0.04045, else ((c + 0.055) / 1.055) to the power of 2.4; L = 0.2126 R + 0.7152 G + 0.0722 B. The ratio of two colours is (lighter + 0.05) / (darker + 0.05). Work it out with [[calculator]] for every pair of text and ground that occurs, and give the figures.

| What | At least |
|---|---|
| Text | 4.5 to 1 |
| Text of 24 px and more, or 19 px bold | 3 to 1 |
| Edges of fields, icons that mean something, focus | 3 to 1 |

# For everybody

- Never colour alone: a shape, a word or a pattern says the same. About one man in twelve cannot tell red from green.
- Red and green of one lightness are one colour to them; make one clearly darker.
- Saturated red on saturated blue flickers. Put a neutral line between them.

# Print

Large dark areas cost ink and smear: keep grounds light where it will be printed at home. Everything must still be told apart in grey. Bright blues, greens and oranges come out duller on paper.

Give colours as six-digit hex values, each with its role.`,
});
