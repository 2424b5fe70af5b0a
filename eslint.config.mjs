import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules', '.cache', '.data', 'dist', 'migrations', 'coverage'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
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
      // The language's own check (noUncheckedIndexedAccess) makes it a statement of fact, and it is one where it stands.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // The sandbox: what a replay could not repeat does not get in.
    files: ['workflows/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', 'process', 'Buffer', 'fetch', 'setImmediate'],
      'no-restricted-syntax': [
        'error',
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
