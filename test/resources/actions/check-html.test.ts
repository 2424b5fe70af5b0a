/** The tester of pages: each fault is found and told so that somebody can mend it. */
import { expect, test } from '@jest/globals';
import { runAction } from './context.ts';

const pageWith = (body: string, { head = '<title>T</title>', lang = ' lang="en"' } = {}) =>
  `<!doctype html><html${lang}><head>${head}</head><body>${body}</body></html>`;
const check = (content: string) =>
  runAction('check_html', { inputs: { page: { filename: 'p.html', content_type: 'text/html', content } } });

// Guards: the tester finds every fault of this list.
test.each([
  ['<h1>A</h1><p', /line 1: unexpected solidus in tag/],
  ['<h2>A</h2>', /0 headings of the first level/],
  ['<h1>A</h1><h1>B</h1>', /2 headings of the first level/],
  ['<h1>A</h1><h4>B</h4>', /"B" is a heading of level 4 after one of level 1/],
  ['<h1>A</h1><h2> </h2>', /heading 2 is empty/],
  ['<h1>A</h1><a>x</a>', /the link "x" leads nowhere/],
  ['<h1>A</h1><a href="#b">x</a>', /leads to #b, which is not there/],
  ['<h1>A</h1><a href="https://example.com"></a>', /has no text/],
  ['<h1>A</h1><a href="/about">x</a>', /leads to \/about, which this file alone does not have/],
  ['<h1>A</h1><a href="javascript:alert(1)">x</a>', /javascript:alert\(1\)/],
  ['<h1>A</h1><a href="https://">x</a>', /malformed address/],
  ['<h1>A</h1><img src="data:,">', /no alt text/],
  ['<h1>A</h1><svg role="img"></svg>', /a drawing has no name/],
  ['<h1>A</h1><button></button>', /a button has no name/],
  [
    '<h1>A</h1><img alt="x" src="https://example.com/x.png">',
    /<img> loads https:\/\/example.com\/x.png from elsewhere/,
  ],
  ['<h1>A</h1><script src="x.js"></script>', /<script> loads x.js/],
  ['<h1 id="a">A</h1><p id="a">x</p>', /two elements have the id "a"/],
])('finds the fault in %s', async (body, fault) => {
  const { passed, findings } = (await check(pageWith(body))) as { passed: boolean; findings: string[] };
  expect(passed).toBe(false);
  expect(findings.join('\n')).toMatch(fault);
});

// Guards: a page without title or language is incomplete.
test('wants a title and a language', async () => {
  const { findings } = (await check(pageWith('<h1>A</h1>', { head: '', lang: '' }))) as { findings: string[] };
  expect(findings).toEqual(['the page does not say its language', 'the page has no title']);
});

// Guards: a correct page passes, and the answer says what was inspected.
test('passes a page without faults', async () => {
  const body =
    '<h1>A</h1><h2 id="b">B</h2><a href="#b"><svg role="img" aria-label="To B"></svg></a>' +
    '<a href="mailto:a@example.com">Mail</a><a download="f" href="data:text/plain,x">File</a><img alt="" src="data:,">';
  expect(await check(pageWith(body))).toEqual({
    passed: true,
    findings: ['no fault in 2 headings, 3 links and 2 pictures'],
  });
});

// Guards: a broken page of thousands of faults gives a report that a model can read.
test('tells at most fifty faults', async () => {
  const { findings } = (await check(pageWith('<img src="data:,">'.repeat(5_000)))) as { findings: string[] };
  expect(findings).toHaveLength(50);
});
