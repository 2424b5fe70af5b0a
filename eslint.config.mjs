import redos from 'eslint-plugin-redos';
import * as regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const ownParser = {
  selector: 'CallExpression[callee.object.name="JSON"][callee.property.name="parse"]',
  message: 'JSON may be nested until whatever walks it runs out of stack: use parseJson',
};
const dynamicPattern = {
  selector: ':matches(NewExpression, CallExpression)[callee.name="RegExp"]',
  message: 'a pattern that is put together at run time cannot be checked here: write a literal, or use RE2JS',
};

const spreadLiteral = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'name the fields where they stand: a literal that is spread at once says nothing more',
};

/** A process that blocks answers nobody meanwhile. */
const stalling = {
  selector: 'CallExpression:matches([callee.name=/Sync$/], [callee.property.name=/Sync$/])',
  message: 'nothing else runs in the process until this returns: use what gives a promise',
};
/** A machine's clock may be set forward and back, and those of two machines differ. */
const wallClock = {
  selector:
    'BinaryExpression[operator=/^[<>]=?$/] > CallExpression[callee.object.name="Date"][callee.property.name="now"]',
  message: 'measure a wait with performance.now(), and have the database compare its times with its own clock',
};

/**
 * Texts of tenants and agents go to a terminal, which obeys control characters in them. `src/cli/output.ts` removes
 * these, so nothing else may print.
 */
const ownPrinting = [
  'MemberExpression[object.name="console"]',
  'MemberExpression[property.name="write"][object.property.name=/^std(out|err)$/]',
].map((selector) => ({ selector, message: 'what the command line prints goes through src/cli/output.ts' }));

/**
 * Rights are in one table. `can` decides what somebody may do, and it refuses whoever it does not know; a comparison of
 * roles elsewhere would not.
 */
const decisionsOnRoles = [
  'BinaryExpression[operator=/^[!=]==?$/]:has(> Literal[value=/^(owner|admin|member)$/])',
  'SwitchCase > Literal[value=/^(owner|admin|member)$/]',
  'ArrayExpression > Literal[value=/^(owner|admin|member)$/]',
  'BinaryExpression[operator=/^[!=]==?$/]:has(> Identifier[name="INTERNAL_WORKSPACE"])',
  'BinaryExpression[operator=/^[!=]==?$/]:has(> Literal[value="acc_internal"])',
].map((selector) => ({ selector, message: 'decisions on who somebody is: src/platform/core/rights.ts' }));

export default tseslint.config(
  {
    ignores: [
      'node_modules',
      '.cache',
      '.data',
      'dist',
      'migrations',
      'coverage',
      'client/dist',
      'client/src/generated',
      // Code that a sample's agents wrote.
      'samples',
    ],
  },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false, attributes: false } },
      ],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // With `noUncheckedIndexedAccess`, `!` states a fact where an index is known to be there. A test keeps their
      // number down.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  // A later option replaces an earlier one as a whole, so each restriction further below repeats this one.
  { rules: { 'no-restricted-syntax': ['error', spreadLiteral] } },
  {
    // A file that is longer holds more than its name says.
    files: ['{src,activities,workflows,bin,client/src,console/src}/**/*.{ts,tsx,mjs,cjs}'],
    rules: { 'max-lines': ['error', 350] },
  },
  {
    // A workflow reads as a story: state, handlers, and what it does in the order in which it does it.
    files: ['workflows/**/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 100, skipBlankLines: false, skipComments: false }] },
  },
  {
    // What a domain is made of is read at one look.
    files: ['src/compose/**/*.ts'],
    rules: { 'max-lines': ['error', 120] },
  },
  {
    files: ['test/**/*.{ts,mjs}'],
    rules: { 'max-lines': ['error', 400] },
  },
  {
    // Texts of tenants, models and the outside world reach any pattern, and a pattern that takes more than linear time
    // on one of them stops the whole process. There are two judges: the first reasons about each pattern, the second
    // also attacks it: with the same attacks each time, without a limit of time that a busy machine exceeds.
    files: ['{src,activities,workflows,bin,client,console}/**/*.{ts,tsx,mjs,cjs}'],
    plugins: { regexp, redos },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false, ignoreSticky: false }],
      'redos/no-vulnerable': ['error', { ignoreErrors: false, timeout: 60_000, attackTimeout: null, randomSeed: 1 }],
      'no-restricted-syntax': ['error', spreadLiteral, dynamicPattern],
    },
  },
  {
    files: ['{src,activities}/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', spreadLiteral, dynamicPattern, wallClock, ...decisionsOnRoles] },
  },
  {
    // The command line and the embedded servers read what their own user wrote, so they may trust it.
    files: ['{src,activities}/**/*.ts'],
    ignores: ['src/{cli,embedded}/**', 'src/cli.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        spreadLiteral,
        dynamicPattern,
        ownParser,
        stalling,
        wallClock,
        ...decisionsOnRoles,
      ],
    },
  },
  {
    // These read files and look for programs once, while the process starts and nobody waits for it.
    files: [
      'src/worker.ts',
      'src/platform/http/console.ts',
      'src/platform/core/misspelt-settings.ts',
      'src/platform/core/setting-file.ts',
      'src/platform/sandbox/{bubblewrap,command}.ts',
    ],
    rules: {
      'no-restricted-syntax': ['error', spreadLiteral, dynamicPattern, ownParser, wallClock, ...decisionsOnRoles],
    },
  },
  {
    files: ['src/cli/**', 'src/cli.ts'],
    ignores: ['src/cli/output.ts'],
    rules: {
      'no-restricted-syntax': ['error', spreadLiteral, dynamicPattern, wallClock, ...decisionsOnRoles, ...ownPrinting],
    },
  },
  {
    files: ['console/src/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': [
        'error',
        dynamicPattern,
        {
          // What an effect answers is called when it ends. A browser may answer a promise where it answered nothing
          // before, as for `scrollIntoView`, and the page is gone then.
          selector:
            'CallExpression[callee.name=/^use(Layout)?Effect$/] > ArrowFunctionExpression[expression=true] > :not(UnaryExpression[operator="void"]).body',
          message: 'an effect says what it answers: `void` before the expression, or a body with `return`',
        },
        {
          selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
          message: 'texts of agents and tenants are data: nothing of them becomes HTML of ours',
        },
      ],
    },
  },
  {
    files: ['src/platform/core/rights.ts'],
    rules: { 'no-restricted-syntax': ['error', spreadLiteral, dynamicPattern, ownParser, stalling, wallClock] },
  },
  {
    // Workflows run in a sandbox, and nothing that a replay could not repeat may get in.
    files: ['workflows/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', 'process', 'Buffer', 'fetch', 'setImmediate'],
      'no-restricted-syntax': [
        'error',
        spreadLiteral,
        dynamicPattern,
        {
          selector: 'Program > VariableDeclaration[kind="let"]',
          message: 'no mutable state outside a workflow function',
        },
        {
          selector: 'NewExpression[callee.name="Error"]',
          message: 'throw ApplicationFailure: a plain Error hangs the run',
        },
      ],
    },
  },
);
