/**
 * Type-checks the TypeScript that the pages show, against the sources of the product. A block is a program of its own; or it goes into
 * a file of the product, and all such blocks of a page are put there together, as whoever follows the page would do:
 *
 *   in="src/some/file.ts"       at the end of that file; where there is none yet, it is that file
 *   before="a text"             before the one line of that file which has this text
 *   with="import ..."           what that file has to import for it
 *   not-checked="why"           it is not checked; which test stands for it, or why none can
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { fencesOf, ROOT } from './blocks.ts';

/** As TypeScript names the package that `client/` is published as. */
const PATHS = {
  'agent-orchestration-client': ['./client/src/index.ts'],
  'agent-orchestration-client/api': ['./client/src/api.ts'],
};
const LANGUAGES = ['ts', 'typescript', 'tsx', 'js', 'javascript'];
const ATTRIBUTES = ['in', 'before', 'with', 'not-checked', 'shows'];

export interface CodeBlock {
  page: string;
  text: string;
  in: string | undefined;
  before: string | undefined;
  imports: string | undefined;
  notChecked: string | undefined;
}

/** @throws Error for a block that does not say what it is */
export function codeBlocksOf(markdown: string, page: string): CodeBlock[] {
  return fencesOf(markdown, page, ATTRIBUTES, (language) => LANGUAGES.includes(language)).map(
    ({ language, text, name, attributes }) => {
      if (language !== 'ts') throw new Error(`${name} is ${language}: it is to be ts`);
      const notChecked = attributes.get('not-checked');
      if (notChecked !== undefined && notChecked.split(' ').length < 3)
        throw new Error(`${name} does not say why it is not checked`);
      return {
        page,
        text,
        in: attributes.get('in'),
        before: attributes.get('before'),
        imports: attributes.get('with'),
        notChecked,
      };
    },
  );
}

/** @returns the files of the product with the blocks in them, and a file for each block that is a program of its own, by path */
export function filesWith(blocks: readonly CodeBlock[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const [i, block] of blocks.entries()) {
    if (block.notChecked !== undefined) continue;
    if (block.in === undefined) {
      files.set(`test/docs/${block.page.replace(/\W/g, '-')}-${i}.ts`, `${block.text}\nexport {};\n`);
      continue;
    }
    const path = join(ROOT, block.in);
    const before = files.get(block.in) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '');
    files.set(block.in, `${withBlock(before, block)}${block.imports ? `\n${block.imports}\n` : ''}`);
  }
  return files;
}

function withBlock(file: string, { page, text, in: path, before }: CodeBlock): string {
  if (before === undefined) return `${file}\n${text}\n`;
  const lines = file.split('\n');
  const places = lines.flatMap((line, i) => (line.includes(before) ? [i] : []));
  if (places.length !== 1) throw new Error(`${page}: ${places.length} lines of ${path} have "${before}", one is to`);
  return [...lines.slice(0, places[0]), text, ...lines.slice(places[0])].join('\n');
}

/** What all programs share: the product, the libraries. Reading them is most of the time that a check takes. */
const unchanged = new Map<string, ts.SourceFile | undefined>();

/** @returns what the compiler finds wrong with these blocks of one page, a line each */
export function faultsOf(blocks: readonly CodeBlock[]): string[] {
  const files = new Map([...filesWith(blocks)].map(([path, text]) => [join(ROOT, path), text]));
  if (files.size === 0) return [];
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => readFileSync(path, 'utf8')) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, paths: PATHS }, ROOT);
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = files.get(path);
    if (text !== undefined) return ts.createSourceFile(path, text, version);
    if (!unchanged.has(path)) unchanged.set(path, getSourceFile(path, version, ...rest));
    return unchanged.get(path);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((path) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText, start = 0 }) => {
      const line = source!.text.slice(0, start).split('\n').length;
      const shown = source!.text.split('\n')[line - 1]!.trim();
      return `${blocks[0]!.page}: "${shown}": ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}
