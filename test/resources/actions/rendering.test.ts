/** The parts that rendering actions share: sources, Markdown, colours, the calendar. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { itemAt } from '../../../src/platform/core/present.ts';
import { idOf, plusDays, weekdayOf, weeksOf } from '../../../src/resources/actions/builtin/rendering/calendar.ts';
import { contrast, paletteOf, readableOn } from '../../../src/resources/actions/builtin/rendering/colours.ts';
import { renderMarkdown } from '../../../src/resources/actions/builtin/rendering/markdown.ts';
import { html, slugify, textOf } from '../../../src/resources/actions/builtin/rendering/markup.ts';
import { sourcesOf } from '../../../src/resources/actions/builtin/rendering/sources.ts';
import { contextOf, parseHtml, renderFile, runAction, textIn } from './context.ts';
import { cpuMsOf } from '../../support/observability/effort.ts';

const given = { inputs: { b: 1, a: 2 }, artifacts: { d: 3, c: 4 } };

// Guards: an action does not depend on the order of keys, which the database does not keep.
test('takes from steps before phases, from those named first, then by slug', () => {
  const slugs = (instructions: string | null) =>
    sourcesOf(contextOf({ ...given, instructions })).map(({ slug }) => slug);
  expect(slugs(null)).toEqual(['a', 'b', 'c', 'd']);
  expect(slugs('First b, then d.')).toEqual(['b', 'a', 'd', 'c']);
});

// Guards: a part that nearly fits is refused with its fault, and not as missing.
test('explains a part of the wrong shape', async () => {
  const slides = runAction('render_slides', { inputs: { draft: { slides: [{ title: '' }] } } });
  await expect(slides).rejects.toThrow(/the slides to show in "draft" cannot be used: .*slides\[0\]\.title/s);
});

// Guards: only the product's own strings pass as markup, whatever the data looks like.
test('takes no data for markup', () => {
  const forged = JSON.parse('{"markup": "<b>", "Symbol(markup)": "<b>"}');
  expect(() => textOf(html`${forged}`)).toThrow(TypeError);
  expect(textOf(html`<p title="${`"'<&>`}">${['<b>', null, false, 0, html`<i>x</i>`]}</p>`)).toBe(
    '<p title="&quot;&#39;&lt;&amp;&gt;">&lt;b&gt;0<i>x</i></p>',
  );
});

// Guards: file names and ids are plain, even for titles in other scripts.
test('makes slugs', () => {
  expect(slugify('Über die Bienen: "Summ"!')).toBe('uber-die-bienen-summ');
  expect(slugify('蜜蜂')).toBe('untitled');
  expect(slugify('x'.repeat(100))).toHaveLength(60);
});

describe('Markdown', () => {
  const render = (text: string) => textOf(renderMarkdown(text).body);

  // Guards: scripts, handlers and addresses that run code are removed, also where Markdown hides them.
  test.each([
    '<script>alert(1)</script>',
    '<p onclick="alert(1)">x</p>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt&colon;alert(1))',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '![x](https://evil.example/track.png)',
    '<iframe src="https://evil.example"></iframe>',
    '<style>body{display:none}</style>',
    '<svg><script>alert(1)</script></svg>',
    '<math><mtext></p><img src=x onerror=alert(1)>',
  ])('makes %s harmless', (text) => {
    const elements = parseHtml(
      `<!doctype html><html lang="en"><head><title>x</title></head><body>${render(text)}</body></html>`,
    );
    const body = elements.slice(elements.findIndex(({ tagName }) => tagName === 'body') + 1);
    for (const { tagName, attrs } of body) {
      expect(['p', 'a', 'li', 'ul']).toContain(tagName);
      for (const { name, value } of attrs) {
        expect(['href', 'rel', 'title', 'id']).toContain(name);
        if (name === 'href') expect(value).toMatch(/^https:/);
      }
    }
  });

  // Guards: the outline has no gaps and no second title, and equal headings have different ids.
  test('puts headings in order', () => {
    const { body, headings } = renderMarkdown('# A\n\n#### B\n\n## A\n\n## A\n\n### C & *d*', 'x-');
    expect(headings.map(({ depth }) => depth)).toEqual([2, 3, 2, 2, 3]);
    expect(new Set(headings.map(({ id }) => id)).size).toBe(5);
    expect(textOf(body)).toContain('<h2 id="x-a">A</h2>');
  });

  // Guards: an id belongs to one heading, even where another heading looks like the id of a repetition.
  test('gives each heading its own id', () => {
    const { headings } = renderMarkdown('## A 4\n\n## A\n\n## A\n\n## A\n\n## A 2');
    expect(new Set(headings.map(({ id }) => id)).size).toBe(5);
  });

  // Guards: sections of a joined document stay apart: code keeps its tags, and an open code block ends with its
  // section.
  test('joins texts with code in them', async () => {
    const first = '# First\n\n## Part\n\n`<b>` <b>\n\n~~~html\n# <i>\n```\n<u>';
    const { content } = await renderFile('assemble_markdown', { inputs: { a: first, b: 'Second.' } });
    expect(content).toContain('## First\n');
    expect(content).toContain('### Part\n\n`<b>` &lt;b>\n\n~~~html\n# <i>\n```\n<u>\n~~~\n');
    expect(content).toContain('1. [A: First](#1-a)\n2. [B](#2-b)');
  });

  // Guards against: a text that a model wrote so that rendering it takes long, and everybody's work waits.
  test('is quick with texts that are made to be slow', async () => {
    const nasty = [`# ${' '.repeat(50_000)}#`, '```x\n'.repeat(20_000), '<svg '.repeat(50_000), '`'.repeat(50_000)];
    for (const content of nasty) {
      const took = await cpuMsOf(async () => {
        await renderFile('assemble_markdown', { inputs: { content } });
        await renderFile('render_storybook', {
          inputs: { story: { pages: [{ text: 'x' }] }, art: { scenes: [{ svg: content, alt: 'x' }] } },
        });
      });
      expect(took).toBeLessThan(2_000);
    }
  });

  // Guards: a table of contents shows headings with the right characters, escaped exactly once.
  test('lists contents of an article', async () => {
    const content = '# Title\n\nText.\n\n## A & B\n\n## "C" <D>\n\n## E';
    const file = await renderFile('render_html_page', { inputs: { content } });
    const links = parseHtml(file.content).filter(({ tagName }) => tagName === 'a');
    expect(links.map((link) => textIn(link).trim())).toEqual(['A & B', '"C"', 'E']);
    expect(await runAction('check_html', { inputs: { file } })).toMatchObject({ passed: true });
  });
});

describe('colours', () => {
  const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

  // Guards: text stays readable whatever colours a model chose.
  test('are readable', () => {
    fc.assert(
      fc.property(colour, colour, (background, ink) => {
        const palette = paletteOf(contextOf({ inputs: { look: { palette: { background, ink, accent: ink } } } }));
        expect(contrast(palette.background, palette.ink)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(background, readableOn(background))).toBeGreaterThanOrEqual(4.5);
      }),
    );
    expect(contrast('#ffffff', '#000000')).toBeCloseTo(21);
  });

  // Guards: an invalid colour reaches no style sheet.
  test('that are no colours are not used', () => {
    const palette = { background: 'red;}</style>', ink: '#000000', accent: '#000000' };
    expect(paletteOf(contextOf({ inputs: { look: { palette } } })).background).toBe('#fdfcf9');
  });
});

describe('calendar', () => {
  // Guards: every day of a year is in exactly one week, weeks begin where they should and follow each other.
  test.each(['monday', 'sunday'] as const)('has each day once in weeks from %s', (start) => {
    fc.assert(
      fc.property(fc.integer({ min: 1900, max: 2200 }), (year) => {
        const weeks = weeksOf(year, start);
        const days = weeks.flatMap((week) => week.days);
        const inYear = days.filter((day) => day.year === year).map(idOf);
        const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
        expect(new Set(inYear).size).toBe(isLeap ? 366 : 365);
        expect(days).toHaveLength(new Set(days.map(idOf)).size);
        for (const { days: of } of weeks) expect(weekdayOf(itemAt(of, 0), start)).toBe(0);
        for (const [index, day] of days.slice(1).entries()) expect(plusDays(itemAt(days, index), 1)).toEqual(day);
      }),
      { numRuns: 30 },
    );
  });

  // Guards: week numbers are those of other calendars.
  test.each([
    [2027, '2026-12-28', 53],
    [2027, '2027-01-04', 1],
    [2026, '2025-12-29', 1],
    [2026, '2026-12-28', 53],
    [2024, '2024-12-30', 1],
  ])('numbers weeks of %d as ISO does: %s is in week %d', (year, monday, number) => {
    expect(weeksOf(year, 'monday').find(({ days }) => idOf(itemAt(days, 0)) === monday)?.number).toBe(number);
  });

  // Guards: names of months and days are in the language of the planner, and an impossible year is refused.
  test('speaks the language of the project', async () => {
    const artifacts = { prompts: { monthly: [{ theme: 'T', question: 'Q' }], weekly: ['W'] } };
    const params = { year: 2027, language: 'de', week_start: 'sunday' };
    const { content } = await renderFile('render_planner', { artifacts, project: { params } });
    expect(content).toContain('März');
    expect(content).toContain('<html lang="de">');
    const odd = runAction('render_planner', { artifacts, project: { params: { year: 'soon' } } });
    await expect(odd).rejects.toThrow(/"year"/);
  });
});
