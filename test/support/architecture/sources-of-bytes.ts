/** Finds in a source text whatever brings bytes in from outside, or reads them, other than by what it was handed. */
import ts from 'typescript';

/** Modules and packages that open connections or read bodies by themselves. Temporal and what only listens are not looked at. */
const CONNECTING =
  /^((node:)?(http|https|http2|net|tls|dgram)|undici|ai|@ai-sdk\/.*|openid-client|jose|stripe|dockerode|nodemailer|httpxy|pg|@aws-sdk\/.*|@smithy\/.*|flydrive.*|@modelcontextprotocol\/sdk\/client\/.*|@opentelemetry\/exporter.*)$/;
const READERS = new Set(['json', 'text', 'arrayBuffer', 'bytes', 'blob', 'formData']);
const OF_A_BODY = new Set(['getReader', 'pipeThrough', 'pipeTo', 'tee']);
const CONNECTIONS = new Set(['WebSocket', 'EventSource', 'XMLHttpRequest']);
const GLOBALS = new Set(['globalThis', 'global', 'window']);

/** @returns each with its line */
export function sourcesOfBytes(text: string): string[] {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const add = (node: ts.Node) =>
    found.push(`${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText().slice(0, 100)}`);
  const locals = scopesThatDeclare('fetch', file);
  const isLocal = (node: ts.Node) => locals.some((scope) => scope.pos <= node.pos && node.end <= scope.end);

  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (isImport(node) || isReading(node) || isConnection(node)) add(node);
    else if (ts.isIdentifier(node) && node.text === 'fetch' && isReference(node) && !isLocal(node)) add(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isImport(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) {
    const { importClause: clause, moduleSpecifier } = node;
    const isOfTypes =
      clause?.phaseModifier === ts.SyntaxKind.TypeKeyword ||
      (clause?.name === undefined &&
        clause?.namedBindings !== undefined &&
        ts.isNamedImports(clause.namedBindings) &&
        clause.namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly));
    return !isOfTypes && isConnecting(moduleSpecifier);
  }
  if (ts.isExportDeclaration(node)) return !node.isTypeOnly && isConnecting(node.moduleSpecifier);
  if (!ts.isCallExpression(node)) return false;
  const isLoading =
    node.expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(node.expression) && node.expression.text === 'require');
  return isLoading && isConnecting(node.arguments[0]);
}

const isConnecting = (module: ts.Node | undefined): boolean =>
  module !== undefined && ts.isStringLiteral(module) && CONNECTING.test(module.text);

function isReading(node: ts.Node): boolean {
  if (ts.isForOfStatement(node)) return node.awaitModifier !== undefined && /\bbody\b/.test(node.expression.getText());
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { expression: of, name } = node.expression;
  if (READERS.has(name.text)) return node.arguments.length === 0 && of.getText() !== 'z';
  return OF_A_BODY.has(name.text) || name.text === 'fromWeb';
}

function isConnection(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) return ts.isIdentifier(node.expression) && CONNECTIONS.has(node.expression.text);
  const isGlobal = (of: ts.Expression) => ts.isIdentifier(of) && GLOBALS.has(of.text);
  if (ts.isPropertyAccessExpression(node)) return isGlobal(node.expression) && node.name.text === 'fetch';
  return (
    ts.isElementAccessExpression(node) &&
    isGlobal(node.expression) &&
    ts.isStringLiteral(node.argumentExpression) &&
    node.argumentExpression.text === 'fetch'
  );
}

/** Not the name of a property, nor where it is declared. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  return !('name' in parent && parent.name === node) && !('propertyName' in parent && parent.propertyName === node);
}

function scopesThatDeclare(name: string, file: ts.SourceFile): ts.Node[] {
  const scopes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    const declares =
      (ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node)) &&
      ts.isIdentifier(node.name) &&
      node.name.text === name;
    if (declares) scopes.push(scopeOf(node));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return scopes;
}

const scopeOf = (node: ts.Node): ts.Node => {
  let at = node.parent;
  while (!ts.isFunctionLike(at) && !ts.isBlock(at) && !ts.isSourceFile(at)) at = at.parent;
  return at;
};
