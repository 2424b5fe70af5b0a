/** One exported type name, one meaning: a reader who meets a name looks up one declaration. */
import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The client and the console are packages of their own, and name what the API calls so. */
const PACKAGES = [['src', 'workflows', 'activities'], ['client/src'], ['console/src']];

const NOT_OURS = /(^|\/)(node_modules|generated|dist)\/|\.d\.ts$/;

function sourcesIn(folders: readonly string[]): Map<string, string> {
  const paths = folders.flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const ours = paths.filter((path) => /\.tsx?$/.test(path) && !NOT_OURS.test(path));
  return new Map(ours.map((path) => [path, readFileSync(`${ROOT}${path}`, 'utf8')]));
}

/** @returns the names that several files export as a type, with these files */
function repeatedTypeNames(sources: ReadonlyMap<string, string>): Record<string, string[]> {
  const files = new Map<string, Set<string>>();
  for (const [path, text] of sources) {
    for (const name of exportedTypes(path, text)) files.set(name, (files.get(name) ?? new Set()).add(path));
  }
  return Object.fromEntries([...files].flatMap(([name, of]) => (of.size > 1 ? [[name, [...of].sort()]] : [])));
}

function exportedTypes(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return file.statements.flatMap((statement) => {
    const isType =
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isEnumDeclaration(statement);
    const isExported = isType && statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    return isExported && statement.name ? [statement.name.text] : [];
  });
}

// Guards against: two exported types of one name, of which a reader takes one for the other.
test.each(PACKAGES.map((folders) => [folders.join(', '), folders] as const))(
  '%s: no exported type name twice',
  (_, folders) => {
    expect(repeatedTypeNames(sourcesIn(folders))).toEqual({});
  },
);

// Guards: the looking itself.
test('finds a name that two files export', () => {
  const sources = new Map([
    ['a.ts', 'export interface Answer {}\nexport type Other = 1;\ntype Own = 1;'],
    ['b.ts', 'export type Answer = 1;\ntype Own = 2;\nexport const Other = 1;'],
    ['c.ts', "export type { Answer } from './a.ts';\nexport class Failure {}"],
    ['d.ts', 'export class Failure {}'],
  ]);
  expect(repeatedTypeNames(sources)).toEqual({ Answer: ['a.ts', 'b.ts'], Failure: ['c.ts', 'd.ts'] });
});
