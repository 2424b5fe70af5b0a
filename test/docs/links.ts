/**
 * Looks whether what the pages point at is there: pages, headings, files of the repository, scripts of npm; and whether a reader who
 * starts at the README reaches every page and gets back. `npm run check:links` prints what is broken and fails.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked, type Token, type Tokens } from 'marked';
import { present } from '../../src/platform/core/present.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Words that are a path where they stand as code: `src/api.ts`, `test/security`. */
const FOLDERS = /^(?:\.ci|activities|bin|client|console|deploy|docs|migrations|samples|src|test|workflows)\//;
/** `STEP_KINDS`, `attemptKinds`: what could only be a name in code. */
const NAME_IN_CODE = /^(?:[A-Z][A-Z\d]*_[A-Z\d_]+|[a-z]+(?:[A-Z]\w*)+|[A-Z][a-z]+(?:[A-Z]\w*)+)$/;
/** A page and a heading that a comment or a message in code names. */
const NAMED_PAGE = /\b(?:docs\/[\w/-]+|README|CONTRIBUTING|SECURITY|CHANGELOG)\.md(?:#[\w-]+)?/g;

interface Page {
  path: string;
  anchors: Set<string>;
  links: string[];
  codes: string[];
  /** Names that its example would make. */
  examples: Set<string>;
}

/** One line for each thing that is pointed at and is not there, in the order of the files. */
export function brokenLinks(root: string, files: readonly string[]): string[] {
  const pages = new Map(
    files
      // What the agents of a sample wrote is no page of ours.
      .filter((file) => file.endsWith('.md') && !file.startsWith('samples/workflows/'))
      .map((file) => [file, readPage(file, readFileSync(join(root, file), 'utf8'))]),
  );
  const broken: string[] = [];
  const reached = new Map<string, string[]>();
  const scripts = npmScripts(root);

  const target = (page: string, link: string): string | undefined => {
    const [path, anchor] = split(link);
    const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
    if (file.startsWith('..') || !existsSync(join(root, file))) broken.push(`${page}: ${link}: there is no such file`);
    else if (anchor !== '' && !hasAnchor(root, pages, file, anchor))
      broken.push(`${page}: ${link}: there is no such heading`);
    return pages.has(file) ? file : undefined;
  };
  for (const page of pages.values()) {
    const relative = page.links.filter((link) => !/^[a-z][a-z+.-]*:/i.test(link));
    reached.set(
      page.path,
      relative.flatMap((link) => target(page.path, link) ?? []),
    );
    for (const code of page.codes) {
      if (isPath(code) && !existsSync(join(root, code)))
        broken.push(`${page.path}: \`${code}\`: there is no such file`);
      for (const [, script] of code.matchAll(/\bnpm run ([\w:-]+)/g)) {
        if (!scripts.has(present(script))) broken.push(`${page.path}: \`npm run ${script}\`: there is no such script`);
      }
    }
  }
  const source = sourceOf(root, files);
  for (const page of pages.values()) broken.push(...goneNames(page, source));
  broken.push(...lost(pages, reached), ...files.flatMap((file) => namedIn(root, file, pages)));
  return [...new Set(broken)];
}

/**
 * Names of the code that a page about changing it uses, and that nothing has any more. Names that its example would make are told by
 * a comment of the page: `<!-- example: getApiKey GREETING -->`.
 */
function goneNames({ path, codes, examples }: Page, source: string): string[] {
  if (!/^(?:docs\/how-to\/.*|docs\/architecture\.md|CONTRIBUTING\.md)$/.test(path)) return [];
  return codes
    .filter((code) => NAME_IN_CODE.test(code) && !examples.has(code) && !source.includes(code))
    .map((name) => `${path}: \`${name}\`: no code has this name`);
}

const sourceOf = (root: string, files: readonly string[]): string =>
  files
    .filter((file) => /^(?:src|workflows|activities|console|client|test\/support)\/.*\.tsx?$/.test(file))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');

/** Pages that a reader of the README does not come to, and those that lead nowhere back. */
function lost(pages: ReadonlyMap<string, Page>, links: ReadonlyMap<string, string[]>): string[] {
  const from = (start: string, next: (page: string) => string[]): Set<string> => {
    const seen = new Set([start]);
    for (const page of seen) for (const other of next(page)) seen.add(other);
    return seen;
  };
  const thence = from('README.md', (page) => links.get(page) ?? []);
  const back = from('README.md', (page) => [...links].flatMap(([other, to]) => (to.includes(page) ? [other] : [])));
  return [...pages.keys()].flatMap((page) => [
    ...(thence.has(page) ? [] : [`${page}: no link leads here from README.md`]),
    ...(back.has(page) ? [] : [`${page}: no link leads back to README.md`]),
  ]);
}

/** What comments and messages in code say of pages and of decisions. Migrations are never edited, so pages may leave them behind. */
function namedIn(root: string, file: string, pages: ReadonlyMap<string, Page>): string[] {
  // The checker's own tests name what is not there.
  if (file === 'test/docs/links.test.ts') return [];
  if (!/\.(?:ts|tsx|mjs|cjs|ya?ml)$|^Dockerfile$/.test(file)) return [];
  const text = readFileSync(join(root, file), 'utf8');
  const named = [...text.matchAll(NAMED_PAGE)].flatMap(([name]) => {
    const [path, anchor] = split(name);
    const isThere = pages.has(path) && (anchor === '' || present(pages.get(path)).anchors.has(anchor));
    return isThere ? [] : [`${file}: ${name}: there is no such page or heading`];
  });
  const decisions = [...text.matchAll(/\bdecision (\d+)\b/g)].flatMap(([, number]) =>
    pages.get('docs/decisions.md')?.anchors.has(`d${number}`) ? [] : [`${file}: there is no decision ${number}`],
  );
  return [...named, ...decisions];
}

function readPage(path: string, text: string): Page {
  const page: Page = { path, anchors: new Set(), links: [], codes: [], examples: new Set() };
  const count = new Map<string, number>();
  const visit = (token: Token): void => {
    if (token.type === 'heading') {
      const slug = slugOf(plain((token as Tokens.Heading).tokens));
      const before = count.get(slug) ?? 0;
      count.set(slug, before + 1);
      page.anchors.add(before === 0 ? slug : `${slug}-${before}`);
    } else if (token.type === 'link' || token.type === 'image') {
      page.links.push((token as Tokens.Link).href);
    } else if (token.type === 'code' || token.type === 'codespan') {
      page.codes.push(unescaped((token as Tokens.Code).text));
    } else if (token.type === 'html') {
      const [, names = ''] = /<!-- example: (.*?) -->/.exec((token as Tokens.HTML).text) ?? [];
      for (const name of names.split(' ')) page.examples.add(name);
      for (const [, id] of (token as Tokens.HTML).text.matchAll(/\bid="([^"]+)"/g)) page.anchors.add(present(id));
    }
  };
  void marked.walkTokens(marked.lexer(text), visit);
  return page;
}

/** As the web pages of repositories make an address of a heading. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const plain = (tokens: readonly Token[]): string =>
  tokens.map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : unescaped(text(token)))).join('');
const text = (token: Token): string => ('text' in token ? String(token.text) : token.raw);
const unescaped = (words: string): string =>
  words
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

function hasAnchor(root: string, pages: ReadonlyMap<string, Page>, file: string, anchor: string): boolean {
  const page = pages.get(file);
  if (page) return page.anchors.has(anchor);
  const [, line] = /^L(\d+)$/.exec(anchor) ?? [];
  if (!line || !statSync(join(root, file)).isFile()) return false;
  return Number(line) <= readFileSync(join(root, file), 'utf8').split('\n').length;
}

function split(link: string): [path: string, anchor: string] {
  const hash = link.indexOf('#');
  return hash < 0 ? [link, ''] : [link.slice(0, hash), link.slice(hash + 1)];
}

/** `<name>`, `*`, `{a,b}` and `...` stand for many. */
const isPath = (code: string): boolean => FOLDERS.test(code) && /^[\w./-]+$/.test(code) && !code.includes('...');

function npmScripts(root: string): Set<string> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  return new Set(Object.keys(scripts));
}

/** All files but what `.gitignore` names and packages, with the folder first and `/` between. */
export function filesOf(root: string): string[] {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n');
  const left = new Set(['.git', ...ignored.map((line) => line.replace(/^\/|\/$/g, ''))]);
  const walk = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (left.has(entry.name) || left.has(path)) return [];
      return entry.isDirectory() ? walk(path) : [path];
    });
  return walk('').sort();
}

if (import.meta.main) {
  const broken = brokenLinks(ROOT, filesOf(ROOT));
  for (const line of broken) console.error(line);
  process.exitCode = broken.length > 0 ? 1 : 0;
}
