/** Writes files of code that say what they are: a comment with the note, and the least that the language asks for. */
import { PLACEHOLDER_NOTE } from './notice.ts';
import type { Subject } from './subject.ts';

const SERVER_FILES = [
  'server/index.js',
  'server/entries.js',
  'server/schema.sql',
  'server/entries.test.js',
  'server/package.json',
];
const CLIENT_FILES = ['client/index.html', 'client/style.css', 'client/app.js', 'client/list.js', 'client/search.js'];
const OTHER_FILES = [
  'index.html',
  'style.css',
  'app.js',
  'list.js',
  'README.md',
  'search.js',
  'package.json',
  'notes.txt',
];

/** @returns paths to choose from, the likeliest first */
export function pathsFor(stepTitle: string, nth: number): string[] {
  const title = stepTitle.toLowerCase();
  const files = title.includes('server') ? SERVER_FILES : title.includes('client') ? CLIENT_FILES : OTHER_FILES;
  return [...files.slice(nth, nth + 1), `part-${nth + 1}.js`, `part-${nth + 1}`];
}

/** Names of several pages or documents, for a field that is called a filename and belongs to no code. */
export const filenameFor = (slug: string, nth: number): string => (nth === 0 ? `${slug}.md` : `${slug}-${nth + 1}.md`);

const escapeHtml = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
/** A title inside a comment or a string must not end it. */
const inCode = (text: string): string => text.replace(/[*/\\'"`<>-]+/g, ' ').trim();

const html = (title: string) => `<!doctype html>
<!-- ${PLACEHOLDER_NOTE} -->
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${escapeHtml(title)}</title>
    <link rel="stylesheet" href="style.css">
  </head>
  <body>
    <main>
      <h1>${escapeHtml(title)}</h1>
      <ul id="list"></ul>
    </main>
    <script type="module" src="app.js"></script>
  </body>
</html>
`;

const CSS = `/* ${PLACEHOLDER_NOTE} */
:root { --ink: #1f2430; --ground: #fdfcf9; --accent: #2f5dd0; }
body { margin: 0 auto; max-width: 40rem; padding: 1rem; color: var(--ink); background: var(--ground); }
`;

const SQL = `-- ${PLACEHOLDER_NOTE}
create table entries (id integer primary key, text text not null, is_done boolean not null);
`;

/** Bodies of JavaScript files, by the last part of their path. */
const SCRIPTS: Readonly<Record<string, string>> = {
  'index.js': `import { createServer } from 'node:http';
import { entries } from './entries.js';

createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(entries()));
}).listen(process.env.PORT ?? 3000);
`,
  'entries.js': `export const entries = () => [{ id: 1, text: 'A first entry', is_done: false }];
`,
  'entries.test.js': `import assert from 'node:assert';
import test from 'node:test';
import { entries } from './entries.js';

test('has a first entry', () => assert.equal(entries().length, 1));
`,
  'app.js': `import { show } from './list.js';

show(document.querySelector('#list'), ['A first entry']);
`,
  'list.js': `export function show(list, entries) {
  list.replaceChildren(...entries.map((text) => Object.assign(document.createElement('li'), { textContent: text })));
}
`,
  'search.js': `export const search = (entries, word) => entries.filter((text) => text.includes(word));
`,
};

/** @param path decides the language */
export function codeFor(path: string, { title, slug }: Pick<Subject, 'title' | 'slug'>): string {
  const file = path.slice(path.lastIndexOf('/') + 1);
  const name = inCode(title) || 'Untitled';
  switch (file.slice(file.lastIndexOf('.') + 1).toLowerCase()) {
    case 'html':
    case 'htm':
      return html(name);
    case 'css':
      return CSS;
    case 'sql':
      return SQL;
    case 'json':
      return `${JSON.stringify({ name: slug, version: '0.1.0', description: PLACEHOLDER_NOTE, type: 'module' }, null, 2)}\n`;
    case 'md':
    case 'markdown':
      return `# ${name}\n\n${PLACEHOLDER_NOTE}\n`;
    case 'txt':
      return `${PLACEHOLDER_NOTE}\n\n${name}\n`;
    case 'py':
    case 'sh':
    case 'rb':
    case 'yaml':
    case 'yml':
    case 'toml':
    case 'env':
      return `# ${PLACEHOLDER_NOTE}\n# ${name}\n`;
    case 'js':
    case 'mjs':
    case 'ts':
    case 'jsx':
    case 'tsx':
      return `// ${PLACEHOLDER_NOTE}\n// ${name}\n${SCRIPTS[file] ?? `export const name = '${name}';\n`}`;
    default:
      return `// ${PLACEHOLDER_NOTE}\n// ${name}\n`;
  }
}
