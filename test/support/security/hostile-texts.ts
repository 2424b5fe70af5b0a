import { first, itemAt } from '../../../src/platform/core/present.ts';

/**
 * Texts that are nothing but text, and are slow to read for whoever reads them carelessly: long runs of one character,
 * and of what begins something (in Markdown, HTML, SVG, JSON, a cron line, an address, a directive of the offline model)
 * and never ends it. Their length is what makes them hostile, so each is made to any length.
 */

export interface HostileText {
  name: string;
  /** @param length in characters, exactly */
  make(length: number): string;
}

/** What stands before a long run and what after it, so that a pattern that hopes for the end is disappointed there. */
const FRAMES: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['a', 'b'],
  ['# a', 'b'],
  ['- a', 'b'],
  ['<a', 'b'],
  ['#a', 'b'],
];
const PUNCTUATION = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'];
const BLANKS: Readonly<Record<string, string>> = {
  spaces: ' ',
  tabs: '\t',
  'line breaks': '\n',
  'carriage returns': '\r',
  'no-break spaces': '\u00a0',
  'spaces and line breaks': ' \n',
  'line separators': '\u2028',
};

/** What begins something, or may be part of it, over and over. */
const UNITS: readonly string[] = [
  // Markdown
  ...['_a', '*a', '**a', '***a', '_a*', '~~a', '`a', '``a`', '[a', '[a](', '![a](', '[a](<', '[a]: b\n', '[a][', '^[a'],
  ...[
    '- ',
    '- a\n',
    ' - ',
    '1. ',
    '1) a\n',
    '> ',
    '>a\n',
    '# ',
    '# a\n',
    '#a ',
    'a\n=',
    'a\n-\n',
    '```\n',
    '```a',
    '~~~\n',
  ],
  ...['|a', '|-', '|a|\n|-|\n', 'a|\n', '| |\n', '<!-- ', '- [ ] ', '***\n', '\\*', 'a\\\n', '  \n'],
  // HTML and SVG
  ...[
    '<a',
    '<a ',
    '<a b="',
    "<a b='",
    '<a>',
    '</a',
    '</a>',
    '<!--',
    '-->',
    '<![CDATA[',
    '<?',
    '<!',
    '<svg ',
    '<svg><g>',
  ],
  ...[
    '<memory',
    '< / memory',
    '<script>',
    '<style>',
    '&',
    '&#',
    '&#x',
    '&amp',
    '&amp;',
    '&a;',
    'a="',
    "a='b' ",
    'url(#',
    'a:b;',
  ],
  // JSON and what is like it
  ...['[', '{', '{"a":', '[{"a":[', '"\\', '\\u', '\\"', '"a",', '{"', ',[', '1e', '-', '0.'],
  // Directives, wikilinks, templates
  ...[
    '[[',
    '[[a',
    '[[a|',
    '[[a]]',
    '[[tool:',
    '[[tool:a ',
    '[[tool:a {',
    '[[tool:a {}]]',
    '[[then]]',
    '[[sleep:',
    '[[reject:',
  ],
  ...['{{', '{{a}}', '${', '<%', '{a}', '%a', '%s', '%%', ':a', '@{'],
  // Names, addresses, crons, globs
  ...[
    'a@',
    'a@a.',
    '@a.',
    '.a',
    'a.',
    '-a',
    'a-',
    'a_',
    '/a',
    '../',
    'http://a',
    'https://a@',
    'a:b@',
    '//',
    '?a=',
    'a=b&',
  ],
  ...['*/', '* ', '*,', '1,', '1-', '0/', '1-2/3,', '**/', '*a', '?*', '{a,', '!(', '+(', '(a|', '[!a', '(a', 'a)+'],
  // Letters
  ...[
    'e\u0301',
    '\ud83d\ude00',
    '\u200d\ud83d\ude00',
    '\u0130',
    '\ufb01',
    'a ',
    'ab',
    'A',
    '\u202e',
    '\u0000',
    '0',
    '9',
    'aA0',
  ],
];

/** What is nested, closed again and in good order. */
const NESTS: readonly (readonly [opening: string, closing: string])[] = [
  ['[', ']'],
  ['{"a":', '}'],
  ['(', ')'],
  ['<g>', '</g>'],
  ['<svg>', '</svg>'],
  ['<div>', '</div>'],
  ['**a ', '** '],
  ['[a', '](b)'],
  ['> ', ''],
  ['*', '*'],
  ['[[', ']]'],
  ['{{', '}}'],
];

const shown = (text: string): string => JSON.stringify(text).slice(1, -1);
const filled = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
const framed = (before: string, unit: string, after: string, length: number): string =>
  (before + filled(unit, Math.max(0, length - before.length - after.length)) + after).slice(0, length);

const run = (what: string, unit: string, [before, after]: readonly [string, string]): HostileText => ({
  name: before === '' ? what : `${shown(before)}, ${what}, ${shown(after)}`,
  make: (length) => framed(before, unit, after, length),
});

export const HOSTILE_TEXTS: readonly HostileText[] = [
  ...FRAMES.flatMap((frame) => Object.entries(BLANKS).map(([name, unit]) => run(name, unit, frame))),
  ...UNITS.map((unit) => run(`"${shown(unit)}" again and again`, unit, first(FRAMES))),
  ...FRAMES.slice(0, 3).flatMap((frame) =>
    PUNCTUATION.map((char) => run(`"${shown(char)}" again and again`, char, frame)),
  ),
  ...NESTS.map(([opening, closing]) => ({
    name: `"${shown(opening)}" and "${shown(closing)}" around nothing`,
    make(length: number) {
      const levels = Math.floor(length / (opening.length + closing.length));
      return filled(opening, levels * opening.length).concat(filled(closing || ' ', length - levels * opening.length));
    },
  })),
  // An attribute that looks like a reference, as drawings have them.
  ...Object.entries(BLANKS).map(([name, unit]) => ({
    name: `a drawing whose reference has ${name} in it`,
    make(length: number) {
      const [head, tail] = ['<svg><path fill="#a', 'x"/><circle r="1"/></svg>'];
      return framed(head, unit, tail, length);
    },
  })),
];

/** Those that have held the service up before: where few texts are tried, these are among them. */
const ONCE_SLOW = new Set(['# a, spaces, b', '#a, spaces, b', '"_a" again and again', '"<" again and again', 'spaces']);

/** Those that were slow once, and so many others in turn. */
export const someTexts = (others: number, nth: number): HostileText[] => [
  ...HOSTILE_TEXTS.filter(({ name }) => ONCE_SLOW.has(name)),
  ...inTurn(HOSTILE_TEXTS, others, nth),
];

/** In turn, so that all of them are met even where few are tried at each place. */
export const inTurn = <T>(all: readonly T[], count: number, nth: number): T[] =>
  Array.from({ length: Math.min(count, all.length) }, (_, i) => itemAt(all, (nth * count + i) % all.length));
