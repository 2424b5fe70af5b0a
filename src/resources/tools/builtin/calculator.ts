/**
 * Arithmetic in decimals. An expression is parsed to a tree, and only the nodes named here mean something: there is
 * no way to a property, an object or code. Exponents are bounded, so that no expression takes long.
 */
import { Decimal } from 'decimal.js';
import jsep from 'jsep';
import { z } from 'zod';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';

/** It has ten digits more than are shown, so that 1 / 3 * 3 is 1. */
const Num = Decimal.clone({ precision: 40, maxE: 300, minE: -300, toExpPos: 30, toExpNeg: -15 });
const SHOWN_DIGITS = 30;

type Operation = (a: Decimal, b: Decimal) => Decimal;

const power: Operation = (a, b) => a.pow(b);
const OPERATORS = new Map<string, { precedence: number; apply: Operation }>([
  ['+', { precedence: 1, apply: (a, b) => a.plus(b) }],
  ['-', { precedence: 1, apply: (a, b) => a.minus(b) }],
  ['*', { precedence: 2, apply: (a, b) => a.times(b) }],
  ['/', { precedence: 2, apply: (a, b) => a.div(b) }],
  ['%', { precedence: 2, apply: (a, b) => a.mod(b) }],
  ['^', { precedence: 3, apply: power }],
  ['**', { precedence: 3, apply: power }],
]);

const factorial = (n: Decimal): Decimal => {
  if (!n.isInteger() || n.isNegative() || n.gt(200))
    throw new ToolError('factorial takes a whole number from 0 to 200');
  return Array.from({ length: n.toNumber() }).reduce<Decimal>((product, _, i) => product.times(i + 1), new Num(1));
};

const FUNCTIONS = new Map<string, { arity: readonly [number, number]; apply: (...args: Decimal[]) => Decimal }>([
  ...(['abs', 'sqrt', 'cbrt', 'floor', 'ceil', 'trunc', 'exp', 'ln'] as const).map(
    (name) => [name, { arity: [1, 1], apply: (x: Decimal) => Num[name](x) }] as const,
  ),
  // These are computed in floating point, because the atan of a large decimal takes endless time.
  ...(['sin', 'cos', 'tan', 'asin', 'acos', 'atan'] as const).map(
    (name) => [name, { arity: [1, 1], apply: (x: Decimal) => new Num(Math[name](x.toNumber())) }] as const,
  ),
  ['log', { arity: [1, 2], apply: (x, base) => x.log(base ?? 10) }],
  ['log2', { arity: [1, 1], apply: (x) => x.log(2) }],
  ['log10', { arity: [1, 1], apply: (x) => x.log(10) }],
  ['round', { arity: [1, 2], apply: (x, places) => x.toDecimalPlaces(places?.toNumber() ?? 0) }],
  ['min', { arity: [1, 100], apply: (...all) => Num.min(...all) }],
  ['max', { arity: [1, 100], apply: (...all) => Num.max(...all) }],
  ['factorial', { arity: [1, 1], apply: factorial }],
]);

const CONSTANTS = new Map([
  ['pi', Num.acos(-1)],
  ['e', Num.exp(1)],
]);

// The grammar of jsep is one for the whole process, and nothing else uses it.
jsep.removeAllBinaryOps();
jsep.removeAllUnaryOps();
jsep.removeAllLiterals();
for (const [operator, { precedence, apply }] of OPERATORS) jsep.addBinaryOp(operator, precedence, apply === power);
jsep.addUnaryOp('-');
jsep.addUnaryOp('+');
// Parentheses stay in the tree: without them (-2)^2 could not be told from -2^2.
jsep.hooks.add('gobble-token', function group(env) {
  if (this.char === '(') env.node = { type: 'Group', body: this.gobbleGroup() };
});

const isMinus = (node: jsep.Expression): node is jsep.UnaryExpression =>
  node.type === 'UnaryExpression' && node['operator'] === '-';

type Understood =
  | { type: 'Group'; body: jsep.Expression }
  | jsep.Literal
  | jsep.UnaryExpression
  | jsep.BinaryExpression
  | jsep.Identifier
  | jsep.CallExpression;

const evaluate = (expression: jsep.Expression): Decimal => {
  const node = expression as Understood;
  switch (node?.type) {
    case 'Group':
      return evaluate(node.body);
    case 'Literal':
      // The text is taken, because the number that it was read as has only 17 digits.
      if (typeof node.value !== 'number') throw new ToolError(`${node.raw} is not a number`);
      return new Num(node.raw);
    case 'UnaryExpression':
      return node.operator === '-' ? evaluate(node.argument).neg() : evaluate(node.argument);
    case 'BinaryExpression': {
      const apply = OPERATORS.get(node.operator)!.apply;
      // Mathematics takes the power first, and the parser the sign.
      if (apply === power && isMinus(node.left)) {
        return evaluate({ ...node.left, argument: { ...node, left: node.left.argument } });
      }
      return apply(evaluate(node.left), evaluate(node.right));
    }
    case 'Identifier': {
      const constant = CONSTANTS.get(node.name);
      if (!constant)
        throw new ToolError(`${node.name} is not known; constants are ${[...CONSTANTS.keys()].join(', ')}`);
      return constant;
    }
    case 'CallExpression': {
      const name = node.callee.type === 'Identifier' ? String(node.callee['name']) : '';
      const known = FUNCTIONS.get(name);
      if (!known)
        throw new ToolError(`${name || 'this'} is no function; there are ${[...FUNCTIONS.keys()].join(', ')}`);
      const [least, most] = known.arity;
      const { length } = node.arguments;
      if (length < least || length > most) throw new ToolError(`${name} does not take ${length} arguments`);
      return known.apply(...node.arguments.map(evaluate));
    }
    default:
      throw new ToolError('only numbers, + - * / % ^, parentheses, functions and constants are understood');
  }
};

const calculate = (expression: string): Decimal => {
  try {
    return evaluate(jsep(expression));
  } catch (error) {
    // The parser and the decimals throw plain errors that say what is wrong with the expression.
    throw error instanceof ToolError ? error : new ToolError(`cannot evaluate this: ${(error as Error).message}`);
  }
};

export const calculator = builtinTool({
  slug: 'calculator',
  area: 'general',
  description:
    'Evaluates an arithmetic expression exactly, in decimals. Use it for any calculation instead of doing it in your ' +
    `head. Operators + - * / % (remainder) ^ or ** (power); functions ${[...FUNCTIONS.keys()].join(', ')} (angles in ` +
    'radians, log(x, base), round(x, places)); constants pi, e. No thousands separators, no units. ' +
    'Returns {result}, a decimal number as text.',
  effect: 'read',
  isQuick: true,
  args: z.strictObject({
    expression: z.string().min(1).max(1_000).describe('For example (1.1 + 2.2) * 3^2 or round(sqrt(2), 4)'),
  }),
  async execute({ expression }) {
    const value = calculate(expression);
    if (value.isNaN()) throw new ToolError('the result is not a real number');
    if (!value.isFinite()) throw new ToolError('the result is infinite or larger than 10^300');
    return { result: value.toSignificantDigits(SHOWN_DIGITS).toString() };
  },
});
