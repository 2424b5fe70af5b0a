/** `docs/client-reference.md`, made of the client's own declarations. `npm run docs:client` writes it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { present } from '../../src/platform/core/present.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = join(ROOT, 'docs/client-reference.md');
const SOURCES = join(ROOT, 'client/src');

/** In the order of the page: the file, and what its part of the page is called. */
const PARTS: Readonly<Record<string, string>> = {
  client: 'The client',
  connection: 'What it is made with',
  runs: 'Runs',
  projects: 'Projects and gates',
  states: 'What is known of them',
  waiting: 'Waits',
  live: 'Following a workspace',
  stream: 'Streams and their ends',
  webhooks: 'Webhooks',
  errors: 'Errors',
  sse: 'Event streams by themselves',
  usd: 'Amounts',
};

export async function referencePage(): Promise<{ current: string; wanted: string }> {
  return { current: await readFile(PAGE, 'utf8').catch(() => ''), wanted: render(declarations()) };
}

/** Each exported declaration with its comments, by the file that it is of. */
function declarations(): Map<string, string[]> {
  const { config } = ts.readConfigFile(join(ROOT, 'client/tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, join(ROOT, 'client'));
  const program = ts.createProgram([join(SOURCES, 'index.ts')], { ...options, emitDeclarationOnly: true });
  const checker = program.getTypeChecker();
  const index = present(checker.getSymbolAtLocation(present(program.getSourceFile(join(SOURCES, 'index.ts')))));
  const exported = checker.getExportsOfModule(index).map((symbol) => symbol.name);

  const byFile = new Map<string, string[]>();
  for (const name of Object.keys(PARTS)) {
    const source = present(program.getSourceFile(join(SOURCES, `${name}.ts`)));
    program.emit(source, (_path, text) => {
      const declared = ts.createSourceFile('declared.d.ts', text, ts.ScriptTarget.ES2022, true);
      byFile.set(
        name,
        declared.statements
          .filter((statement) => namesOf(statement).some((each) => exported.includes(each)))
          .map((statement) => statement.getFullText().trim()),
      );
    });
  }
  return byFile;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as ts.Statement & { name?: ts.Identifier };
  return name ? [name.text] : [];
}

/** The comment at the head of a file is not the first declaration's. */
const withoutFileComment = (text: string): string =>
  text.replace(/^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*(?=\/\*\*|import )/, '');

/** The text is that of the compiler's own declarations, so there is nothing left to check. */
const FENCE = '```ts not-checked="made of the declarations; test/client/reference.test.ts holds it to them"';

const render = (byFile: Map<string, string[]>): string =>
  [
    '# Reference of the client',
    '',
    'Generated from its declarations by `npm run docs:client`; do not edit. How it is used: [the client](../client/README.md).',
    'The functions of `agent-orchestration-client/api` are named after the ids of the [endpoints](endpoints.md): `runs.list` is `runsList`.',
    '',
    ...Object.entries(PARTS).flatMap(([name, title]) => {
      const texts = (byFile.get(name) ?? []).map(withoutFileComment);
      return texts.length === 0 ? [] : [`## ${title}`, '', FENCE, texts.join('\n\n'), '```', ''];
    }),
  ].join('\n');

if (import.meta.main) await writeFile(PAGE, (await referencePage()).wanted);
