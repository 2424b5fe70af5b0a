/** Drawings of models: what is kept of them, and that nothing else is. */
import { describe, expect, test } from '@jest/globals';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import { badge, drawingOr, landscape } from '../../../src/resources/actions/builtin/rendering/illustration.ts';
import { textOf } from '../../../src/resources/actions/builtin/rendering/markup.ts';
import { drawingMarkup, readDrawing } from '../../../src/resources/actions/builtin/rendering/svg.ts';
import { parseXml, renderFile } from './context.ts';

const clean = (inner: string, attributes = 'viewBox="0 0 10 10"') => {
  const drawing = present(readDrawing(`<svg ${attributes}><rect width="1" height="1"/>${inner}</svg>`, 'p-'));
  const markup = textOf(drawingMarkup(drawing, 'A drawing'));
  parseXml(markup);
  return markup;
};

// Guards: no way in which an SVG runs code, loads something or restyles its page gets through.
test.each([
  ['a script', '<script>alert(1)</script>', /script|alert/],
  ['a script in another namespace', '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>', /alert/],
  ['a handler', '<circle r="1" onload="alert(1)" ONCLICK="alert(1)"/>', /alert|onload/i],
  ['foreign content', '<foreignObject><iframe src="https://evil.example"/></foreignObject>', /foreign|evil/],
  ['a style sheet', '<style>*{background:url(https://evil.example)}</style>', /style|evil/],
  ['a picture from elsewhere', '<image href="https://evil.example/x.png"/>', /image|evil/],
  ['an outer use', '<use href="https://evil.example/x.svg#a"/><use xlink:href="data:text/xml,x#a"/>', /evil|data:/],
  ['a link', '<a href="javascript:alert(1)"><circle r="1"/></a>', /javascript|<a/],
  ['an animated address', '<animate attributeName="href" values="javascript:alert(1)"/>', /animate|javascript/],
  ['an outer paint', '<circle r="1" fill="url(https://evil.example#a)"/>', /evil/],
  ['a paint in a style', '<circle r="1" style="fill:url(//evil.example#a);stroke:red"/>', /evil/],
  ['an escaped address', '<circle r="1" fill="u\\72l(https://evil.example#a)"/>', /evil/],
  ['an entity', '<text>&xxe;<![CDATA[<script>alert(1)</script>]]></text>', /<script/],
  ['a handler that breaks out', '<circle r="1" id="a&quot; onload=&quot;alert(1)"/>', /onload="/],
])('leaves out %s', (_, inner, forbidden) => {
  expect(clean(inner)).not.toMatch(forbidden);
});

// Guards: allowed elements stay with the case of their names, and styles become attributes.
test('keeps shapes, gradients and plain styles', () => {
  const markup = clean(
    '<defs><linearGradient id="sky"><stop offset="0" stop-color="#fff"/></linearGradient></defs>' +
      `<path d="M0 0L1 1" fill="url('#sky')" style="stroke: #123456 !important; filter: blur(3px)"/><use href="#sky"/>`,
  );
  expect(markup).toContain('<linearGradient id="p-sky">');
  expect(markup).toContain('fill="url(#p-sky)"');
  expect(markup).toContain('stroke="#123456"');
  expect(markup).toContain('href="#p-sky"');
  expect(markup).not.toContain('blur');
});

// Guards: two drawings with the same ids on one page do not change each other's colours.
test('keeps the ids of two drawings apart', async () => {
  const svg =
    '<svg viewBox="0 0 1 1"><defs><clipPath id="a"><rect width="1" height="1"/></clipPath></defs><circle r="1" clip-path="url(#a)"/></svg>';
  const stickers = [1, 2].map((nth) => ({ name: `Sticker ${nth}`, svg }));
  const { content } = await renderFile('render_sticker_sheet', { inputs: { draw: { stickers } } });
  const ids = parseXml(content).flatMap(({ attributes }) => attributes.id ?? []);
  expect(ids).toEqual(['sticker-1-a', 'sticker-2-a']);
});

describe('reads', () => {
  // Guards: explanations and code fences around a drawing, as models send them, are removed.
  test.each([
    ['fenced', 'Here it is:\n```svg\n<svg viewBox="0 0 2 2"><circle r="1"/></svg>\n```\nEnjoy', '0 0 2 2'],
    ['sized', '<svg width="20px" height="30"><circle r="1"/></svg>', '0 0 20 30'],
    ['of no size', '<svg width="100%"><circle r="1"/></svg>', '0 0 100 100'],
    ['hostile in its box', '<svg viewBox="0 0 1 1&quot; onload=&quot;x"><circle r="1"/></svg>', '0 0 100 100'],
    ['unclosed inside', '<svg viewBox="0 0 2 2"><g><circle r="1"></svg>', '0 0 2 2'],
  ])('one that is %s', (_, text, viewBox) => {
    const drawing = readDrawing(text, 'p-');
    expect(drawing?.viewBox).toBe(viewBox);
    parseXml(textOf(drawingMarkup(present(drawing), null)));
  });

  // Guards: a text without a drawing, an empty drawing and a broken one are replaced by a drawn picture.
  test.each(['', 'a bee in the sun', '<svg></svg>', '<svg><script>1</script></svg>', '<svg><circle r="1"/>', '<svg'])(
    'nothing in %j',
    (text) => {
      expect(readDrawing(text, 'p-')).toBeUndefined();
    },
  );
});

// Guards: the replacement is well-formed, the same for the same words and different for others.
test('draws where nothing was drawn', () => {
  for (const fallback of [landscape, badge]) {
    const pictures = ['a bee', 'a bee', 'a hive'].map((seed) =>
      textOf(drawingMarkup(drawingOr('no svg', 'p-', fallback, seed), seed)),
    );
    for (const picture of pictures) expect(parseXml(picture).length).toBeGreaterThan(4);
    expect(first(pictures).replace(/aria-label="[^"]*"/, '')).toBe(
      itemAt(pictures, 1).replace(/aria-label="[^"]*"/, ''),
    );
    expect(first(pictures).replace(/aria-label="[^"]*"/, '')).not.toBe(
      itemAt(pictures, 2).replace(/aria-label="[^"]*"/, ''),
    );
  }
});
