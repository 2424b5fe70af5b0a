/**
 * The commands that the pages show. A fenced `sh` block is run as it stands; a `console` block shows what its commands (`$ ...`) print,
 * and is held to that. Behind the language stands what else is known of it:
 *
 *   shows="a|b"      each of these is in what it prints
 *   not-run="why"    it is not run by the tests of the pages; which one runs it, or why none can
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked, type Tokens } from 'marked';
import { filesOf } from './links.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What one could type into a terminal, by whatever name. */
const SHELLS = ['sh', 'console', 'bash', 'shell', 'zsh', 'terminal'];

export interface Block {
  language: 'sh' | 'console';
  text: string;
  shows: readonly string[];
  notRun: string | undefined;
}

export interface Page {
  path: string;
  blocks: Block[];
}

/** Every page with commands, in the order of their paths. @throws Error for a block that does not say what it is */
export const pages = (): Page[] =>
  filesOf(ROOT)
    .filter((path) => path.endsWith('.md') && !/^(test|samples\/workflows)\//.test(path))
    .map((path) => ({ path, blocks: blocksOf(readFileSync(join(ROOT, path), 'utf8'), path) }))
    .filter(({ blocks }) => blocks.length > 0);

export const blocksOf = (markdown: string, page: string): Block[] =>
  fencesOf(markdown, page, ['shows', 'not-run'], (language) => SHELLS.includes(language)).map(
    ({ language, text, name, attributes }) => {
      if (language !== 'sh' && language !== 'console')
        throw new Error(`${name} is ${language}: it is to be sh or console`);
      const notRun = attributes.get('not-run');
      if (notRun !== undefined && notRun.split(' ').length < 3)
        throw new Error(`${name} does not say why it is not run`);
      return { language, text, shows: attributes.get('shows')?.split('|') ?? [], notRun };
    },
  );

interface Fence {
  language: string;
  text: string;
  /** Names the block in an error. */
  name: string;
  attributes: ReadonlyMap<string, string>;
}

/**
 * @param known names of attributes that a block may have
 * @param isWanted whether blocks of a language are looked at
 * @throws Error for a block without a language, or with an attribute that is not known
 */
export function fencesOf(
  markdown: string,
  page: string,
  known: readonly string[],
  isWanted: (language: string) => boolean,
): Fence[] {
  const found: Fence[] = [];
  void marked.walkTokens(marked.lexer(markdown), (token) => {
    if (token.type !== 'code' || (token as Tokens.Code).codeBlockStyle === 'indented') return;
    const { lang = '', text } = token as Tokens.Code;
    const name = `${page}: the block that begins with "${text.split('\n')[0]}"`;
    const [, language = '', rest = ''] = /^(\S*)\s*(.*)$/.exec(lang) ?? [];
    if (language === '') throw new Error(`${name} does not say its language; \`text\` is one`);
    if (isWanted(language)) found.push({ language, text, name, attributes: attributesIn(rest, known, name) });
  });
  return found;
}

function attributesIn(text: string, known: readonly string[], name: string): Map<string, string> {
  const attributes = new Map([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key!, value!]));
  const unknown = text.replace(/[\w-]+="[^"]*"/g, '').trim();
  for (const key of [...attributes.keys(), ...(unknown ? [unknown] : [])]) {
    if (!known.includes(key))
      throw new Error(`${name} has "${key}": it knows ${known.map((one) => `${one}="..."`).join(' and ')}`);
  }
  return attributes;
}

/** The commands of a block, each in one piece: what goes on behind a backslash, in quotes or in what is shown belongs to it. */
export function commandsOf({ language, text }: Block): { command: string; output: string[] }[] {
  if (language === 'sh') return [{ command: text, output: [] }];
  const commands: { command: string; output: string[] }[] = [];
  let goesOn = false;
  for (const line of text.split('\n')) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), output: [] });
    else if (goesOn) last!.command += `\n${line}`;
    else if (line.trim() !== '') last?.output.push(line);
    goesOn = line.endsWith('\\');
  }
  return commands;
}
