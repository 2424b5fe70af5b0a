/** Finds the tables of other resources that a resource's statements name. A table's owner is the folder whose `table.ts` declares it. */
import ts from 'typescript';

export interface Source {
  /** The path below `src/resources`, such as `runs/store/accept.ts`. */
  path: string;
  text: string;
}

export interface Tables {
  /** The owner of each table, by its name in the database. */
  owners: ReadonlyMap<string, string>;
  /** The table of each exported constant, by `<owner>.<constant>`. */
  constants: ReadonlyMap<string, string>;
}

/** One place where a statement of a resource names a table of another one. */
export interface Naming {
  from: string;
  to: string;
  table: string;
  path: string;
}

const folder = (path: string): string => path.split('/')[0] ?? '';
const isTableFile = (path: string): boolean => path.endsWith('/table.ts');
const parse = ({ path, text }: Source): ts.SourceFile => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);

export function readTables(sources: readonly Source[]): Tables {
  const owners = new Map<string, string>();
  const constants = new Map<string, string>();
  for (const source of sources.filter(({ path }) => isTableFile(path))) {
    const owner = folder(source.path);
    const visit = (node: ts.Node): void => {
      if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name)) {
        const table = declaredTable(node.initializer);
        if (table !== undefined) {
          owners.set(table, owner);
          constants.set(`${owner}.${node.name.text}`, table);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(parse(source));
  }
  return { owners, constants };
}

function declaredTable(node: ts.Expression | undefined): string | undefined {
  if (!node || !ts.isCallExpression(node) || node.expression.getText() !== 'pgTable') return undefined;
  const [name] = node.arguments;
  return name && ts.isStringLiteralLike(name) ? name.text : undefined;
}

/** @returns the places of one source that name tables of other resources */
export function foreignTables(source: Source, { owners, constants }: Tables): Naming[] {
  const from = folder(source.path);
  const found = new Set<string>();
  /** Tables by the names under which the source imports them. */
  const imported = new Map<string, string>();

  function seeImport(node: ts.ImportDeclaration): void {
    const specifier = ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : '';
    const owner = /(?:^|\/)([\w-]+)\/table\.ts$/.exec(specifier)?.[1];
    const isType = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    const bindings = node.importClause?.namedBindings;
    if (owner === undefined || isType || !bindings || !ts.isNamedImports(bindings)) return;
    for (const { name, propertyName, isTypeOnly } of bindings.elements) {
      const table = isTypeOnly ? undefined : constants.get(`${owner}.${(propertyName ?? name).text}`);
      if (table === undefined) continue;
      imported.set(name.text, table);
      // A foreign key refers to the other table, and reads nothing of it.
      if (!isTableFile(source.path)) found.add(table);
    }
  }

  function seeStatement(template: ts.TemplateLiteral): void {
    for (const name of namesIn(textOf(template, imported))) if (owners.has(name)) found.add(name);
  }

  function visit(node: ts.Node): void {
    if (ts.isImportDeclaration(node)) seeImport(node);
    if (ts.isTaggedTemplateExpression(node) && isSql(node.tag)) seeStatement(node.template);
    if (ts.isCallExpression(node) && /^sql\.(raw|identifier)$/.test(node.expression.getText())) {
      const [first] = node.arguments;
      if (first && ts.isTemplateLiteral(first)) seeStatement(first);
      if (first && ts.isStringLiteralLike(first) && owners.has(first.text)) found.add(first.text);
    }
    if (isNamedByText && isName(node) && owners.has(node.text)) found.add(node.text);
    ts.forEachChild(node, visit);
  }
  // A source that makes identifiers of values has its tables in strings and keys: a list of tables, or what a helper is given.
  const isNamedByText = /\bsql\.identifier\((?!')/.test(source.text);
  visit(parse(source));

  return [...found].sort().flatMap((table) => {
    const to = owners.get(table);
    return to === undefined || to === from ? [] : [{ from, to, table, path: source.path }];
  });
}

/** Whether the node is a string or a key that can only be a table's name: one with an underscore. */
const isName = (node: ts.Node): node is ts.StringLiteral | ts.Identifier =>
  (ts.isStringLiteral(node) || (ts.isIdentifier(node) && ts.isPropertyAssignment(node.parent))) &&
  node.text.includes('_');

const isSql = (tag: ts.Expression): boolean => ts.isIdentifier(tag) && tag.text === 'sql';

/** The text of a statement, with the names of imported tables in their placeholders and `$` in all others. */
function textOf(template: ts.TemplateLiteral, imported: ReadonlyMap<string, string>): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  const spans = template.templateSpans.map(
    ({ expression, literal }) => (imported.get(expression.getText()) ?? '$') + literal.text,
  );
  return template.head.text + spans.join('');
}

const CTE = /(\w+)\s*(?:\([^()]*\))?\s+as\s+(?:not\s+)?(?:materialized\s+)?\(/gi;
const AFTER_KEYWORD =
  /\b(?:from|join|into|update|using|only)\s+(?:only\s+|lateral\s+)?(\w+)((?:\s+(?:as\s+)?\w+)?\s*,\s*\w+)*/gi;
/** A fragment that is put after `from` in another template. */
const LEADING = /^\s*(\w+)\s+(?:as\s+)?\w+\s+(?:(?:left\s+|cross\s+|inner\s+)?join|where)\b/i;

/** @returns the words at places of a statement where tables stand, without the statement's own CTEs */
function namesIn(text: string): string[] {
  const ctes = new Set([...text.matchAll(CTE)].map(([, name]) => name));
  const words = [...text.matchAll(AFTER_KEYWORD)].flatMap(([match]) => match.match(/\w+/g) ?? []);
  const leading = LEADING.exec(text)?.[1];
  return [...words, ...(leading === undefined ? [] : [leading])].filter((word) => !ctes.has(word));
}

/** @returns each `<resource> > <owner>` of which there is a place, sorted */
export const edgesOf = (namings: readonly Naming[]): string[] =>
  [...new Set(namings.map(({ from, to }) => `${from} > ${to}`))].sort();

/** @returns each pair of resources that name tables of each other, as `<one> = <other>` */
export const mutualPairs = (edges: readonly string[]): string[] =>
  edges.flatMap((edge) => {
    const [one = '', other = ''] = edge.split(' > ');
    return one < other && edges.includes(`${other} > ${one}`) ? [`${one} = ${other}`] : [];
  });
