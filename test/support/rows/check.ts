/**
 * Holds what the product's raw SQL was seen to give (`record.ts`) against the types that the product says it gives:
 * `db.rows<Row>(...)` and fragments in queries of the builder, sql<Type>`...`. Both are assertions to the compiler, which
 * knows nothing of the database; here it is asked whether the types of the values that came can be assigned to them.
 *
 * `node test/support/rows/check.ts <folder> [--all]` prints what is wrong, also what `stale.ts` finds. With `--all` also the
 * places that nothing ran.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadModule } from 'libpg-query';
import ts from 'typescript';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { FILES, HOLE, type Fact } from './record.ts';
import { checkWritings, type Writing } from './stale.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** No such file: the types of the values seen, as the compiler is told them. */
const SEEN_FILE = join(ROOT, 'src/rows-seen.ts');
/** Postgres' types whose values have a shape of their own each time. */
const JSON_TYPES = new Set([114, 3802]);

/** A place of the product that gives values of the database a type. */
interface Place {
  name: string;
  /** As they are called in `Fact`. */
  key: string;
  type: ts.Type;
  isFragment: boolean;
}

interface Column {
  oid: number;
  types: Set<string>;
}

interface CheckOptions {
  /** Also places that have no facts are faults. */
  all?: boolean;
  /** Texts of files by their paths, in the place of the product's. */
  sources?: Record<string, string>;
}

/** @returns one line for each fault */
export function checkRows(facts: readonly Fact[], { all = false, sources }: CheckOptions = {}): string[] {
  const seen = byPlace(facts);
  const known = typesOfValues(facts);
  const { program, typeOfSeen } = compile(seen, known, sources);
  const checker = program.getTypeChecker();
  const faults: string[] = [];
  for (const place of placesOf(program, checker)) {
    const columns = seen.get(place.key);
    if (!columns) {
      if (all) faults.push(`${place.name}: nothing in the suite runs it`);
      continue;
    }
    const say = (what: string) => faults.push(`${place.name}: ${what}`);
    const check = (name: string, said: ts.Type) => {
      // What a repeated command is answered with was stored for whoever gave it: its type is a parameter.
      if (said.flags & ts.TypeFlags.TypeParameter) return;
      const column = present(columns.get(name));
      const type = typeOfSeen(place.key, name);
      // Of a column that never had a value it is known only what values of its type are like elsewhere.
      const isRight =
        column.types.size > 0
          ? checker.isTypeAssignableTo(type, said)
          : partsOf(said).some((part) => checker.isTypeAssignableTo(part, type));
      if (!isRight)
        say(`${name || 'it'} is said to be ${checker.typeToString(said)}, and is ${checker.typeToString(type)}`);
    };
    if (place.isFragment) {
      check('', place.type);
      continue;
    }
    const said = new Map(checker.getPropertiesOfType(place.type).map((property) => [property.name, property]));
    for (const [name, property] of said) {
      if (columns.has(name)) check(name, checker.getTypeOfSymbol(property));
      else if (!(property.flags & ts.SymbolFlags.Optional)) say(`${name} is said to be a column, and is none`);
    }
    if (checker.getIndexInfosOfType(place.type).length > 0) continue;
    for (const name of columns.keys()) if (!said.has(name)) say(`${name} is a column, and is not said to be one`);
  }
  return faults;
}

/** Of a union its members. */
const partsOf = (type: ts.Type): ts.Type[] => (type.isUnion() ? type.types : [type]);

function byPlace(facts: readonly Fact[]): Map<string, Map<string, Column>> {
  const places = new Map<string, Map<string, Column>>();
  for (const { place, column: name, oid, type } of facts) {
    const columns = places.get(place) ?? new Map<string, Column>();
    places.set(place, columns);
    const column = columns.get(name) ?? { oid, types: new Set() };
    columns.set(name, column);
    if (type !== undefined) column.types.add(type);
  }
  return places;
}

/** What values of each of Postgres' types are, wherever they were seen. */
function typesOfValues(facts: readonly Fact[]): Map<number, string> {
  const known = new Map<number, string>();
  for (const { oid, type } of facts) {
    if (type === undefined || type === 'null' || oid === 0 || JSON_TYPES.has(oid)) continue;
    known.set(
      oid,
      type.startsWith('"')
        ? 'string'
        : /^(true|false)$/.test(type)
          ? 'boolean'
          : /\)\[\]$/.test(type)
            ? 'unknown[]'
            : type,
    );
  }
  return known;
}

function compile(
  seen: ReadonlyMap<string, ReadonlyMap<string, Column>>,
  known: ReadonlyMap<number, string>,
  sources: Record<string, string> | undefined,
) {
  const places = [...seen.keys()];
  const ofColumn = ({ types, oid }: Column): string =>
    types.size > 0
      ? [...types].filter((type) => !(type.startsWith('"') && types.has('string'))).join(' | ')
      : (known.get(oid) ?? 'any');
  const text = places
    .map((place, i) => {
      const columns = [...present(seen.get(place))].map(
        ([name, column]) => `${JSON.stringify(name)}: ${ofColumn(column)};`,
      );
      return `export interface Seen${i} { ${columns.join(' ')} }\n`;
    })
    .join('');

  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: ['src', 'activities'] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(parsed.options, true);
  const given = Object.entries(sources ?? {}).map(([path, source]) => [join(ROOT, path), source] as const);
  const made = new Map([...given, [SEEN_FILE, text]]);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => made.has(name) || fileExists(name);
  host.getSourceFile = (name, ...more) => {
    const source = made.get(name);
    return source === undefined
      ? getSourceFile(name, ...more)
      : ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  };
  const program = ts.createProgram([...(sources ? [] : parsed.fileNames), ...made.keys()], parsed.options, host);
  const checker = program.getTypeChecker();
  const declarations = present(program.getSourceFile(SEEN_FILE)).statements.filter(ts.isInterfaceDeclaration);

  return {
    program,
    typeOfSeen(place: string, column: string): ts.Type {
      const type = checker.getTypeAtLocation(itemAt(declarations, places.indexOf(place)));
      return checker.getTypeOfSymbol(present(type.getProperty(column)));
    },
  };
}

function placesOf(program: ts.Program, checker: ts.TypeChecker): Place[] {
  const places: Place[] = [];
  for (const file of program.getSourceFiles()) {
    const path = relative(ROOT, file.fileName).split(sep).join('/');
    if (!/^(src|activities)\//.test(path)) continue;
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit);
      const place = ts.isCallExpression(node)
        ? callOfRows(node, checker)
        : ts.isTaggedTemplateExpression(node)
          ? typedFragment(node, checker)
          : undefined;
      if (!place) return;
      const { line, character } = file.getLineAndCharacterOfPosition(place.at);
      const name = `${path}:${line + 1}:${character + 1}`;
      places.push({ name, key: place.text ?? name, type: place.type, isFragment: place.text !== undefined });
    };
    visit(file);
  }
  return places;
}

interface Found {
  at: number;
  type: ts.Type;
  /** Of a fragment. */
  text?: string;
}

/** `db.rows(...)` whose rows have a type, by its argument or by where they go. */
function callOfRows({ expression }: ts.CallExpression, checker: ts.TypeChecker): Found | undefined {
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'rows') return undefined;
  const call = expression.parent as ts.CallExpression;
  const rows = checker.getAwaitedType(checker.getTypeAtLocation(call));
  const type = rows && checker.getIndexTypeOfType(rows, ts.IndexKind.Number);
  if (!type || type.flags & ts.TypeFlags.Unknown) return undefined;
  return { at: expression.name.getStart(), type };
}

/** sql<Type>`...`, unless it is decoded: then it is the decoder that says what it is. */
function typedFragment(node: ts.TaggedTemplateExpression, checker: ts.TypeChecker): Found | undefined {
  const [said] = node.typeArguments ?? [];
  if (!said || node.tag.getText() !== 'sql') return undefined;
  if (ts.isPropertyAccessExpression(node.parent) && node.parent.name.text === 'mapWith') return undefined;
  const { template } = node;
  const text = ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : template.templateSpans.reduce(
        (text, { expression, literal }) => text + HOLE + columnNamed(expression, checker) + literal.text,
        template.head.text,
      );
  return { at: node.getStart(), type: checker.getTypeFromTypeNode(said), text };
}

/** `status` of `runs.status`; empty for what is no column. */
const columnNamed = (node: ts.Expression, checker: ts.TypeChecker): string =>
  ts.isPropertyAccessExpression(node) && checker.getTypeAtLocation(node).symbol?.name === 'PgColumn'
    ? node.name.text
    : '';

export const readFacts = (folder: string) => readLines<Fact>(folder, 'facts');
export const readWritings = (folder: string) => readLines<Writing>(folder, 'writings');

const readLines = <T>(folder: string, kind: keyof typeof FILES): T[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(FILES[kind]))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await loadModule();
  const folder = itemAt(process.argv, 2);
  const all = process.argv.includes('--all');
  const faults = [...checkRows(readFacts(folder), { all }), ...checkWritings(readWritings(folder), { all })];
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
