/** Finds in sources what can write files: calls of Node's `fs`, of programs that copy or unpack, and of libraries that store. */
import ts from 'typescript';

const MODULES = new Set(['fs', 'node:fs', 'fs/promises', 'node:fs/promises']);
/** Everything of `fs` that only reads, or only deletes what may come back without harm. */
const READS =
  /^(access|accessSync|constants|createReadStream|exists|existsSync|lstat|lstatSync|opendir|promises\.constants|read.*|realpath|realpathSync|rm|rmSync|rmdir|stat|statSync|statfs|unlink|watch)$/;
/** Modules that write files themselves, by what is imported of them; and programs that do when they are run. */
const LIBRARIES = /^(node:sqlite|flydrive\/drivers\/fs|@electric-sql\/pglite\/nodefs)$/;
const PROGRAMS = /^(cp|mv|tar|tee|dd|rsync|install)$/;

/** @returns each writer that a source names, such as `writeFile` or `flydrive/drivers/fs`, sorted */
export function diskWriters(fileName: string, source: string): string[] {
  const file = ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true);
  const found = new Set<string>();
  /** Names under which the whole module is known. */
  const wholes = new Set<string>();

  function seeImport(node: ts.ImportDeclaration): void {
    if (!ts.isStringLiteral(node.moduleSpecifier) || node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
      return;
    const from = node.moduleSpecifier.text;
    if (LIBRARIES.test(from)) found.add(from);
    if (!MODULES.has(from)) return;
    if (node.importClause?.name) wholes.add(node.importClause.name.text);
    const bindings = node.importClause?.namedBindings;
    if (bindings && ts.isNamespaceImport(bindings)) wholes.add(bindings.name.text);
    if (bindings && ts.isNamedImports(bindings)) {
      for (const { name, propertyName, isTypeOnly } of bindings.elements) {
        const imported = (propertyName ?? name).text;
        if (imported === 'promises' || imported === 'default') wholes.add(name.text);
        else if (!isTypeOnly && !READS.test(imported)) found.add(imported);
      }
    }
  }

  function visit(node: ts.Node): void {
    if (ts.isImportDeclaration(node)) seeImport(node);
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && wholes.has(node.expression.text)) {
      if (!READS.test(node.name.text)) found.add(node.name.text);
    }
    // A module that is loaded while the program runs: all of it may be used.
    const isLoad =
      ts.isCallExpression(node) && (node.expression.kind === ts.SyntaxKind.ImportKeyword || isNamed(node, 'require'));
    const first = ts.isCallExpression(node) ? node.arguments[0] : undefined;
    if (first && ts.isStringLiteralLike(first)) {
      if (isLoad && (MODULES.has(first.text) || LIBRARIES.test(first.text))) found.add(first.text);
      if (PROGRAMS.test(first.text)) found.add(first.text);
    }
    ts.forEachChild(node, visit);
  }
  visit(file);
  return [...found].sort();
}

const isNamed = (node: ts.CallExpression, name: string): boolean =>
  ts.isIdentifier(node.expression) && node.expression.text === name;
