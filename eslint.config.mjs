// What the type checker can't see: promises nobody waits for, cases nobody handles, and the purity of compiler and stdlib.
// Form is biome's, directions between folders are dependency-cruiser's (.dependency-cruiser.cjs).
import tseslint from 'typescript-eslint';

const outside = 'compiler and stdlib are pure: the clock, chance and the process come in as data';
const impureGlobals = [
  'process',
  'console',
  'performance',
  'crypto',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'require',
  'Buffer',
];

/** A test is run, and so are those beside it: what is not to be run is deleted, what fails now and then is quarantined (scripts/testing). */
const forbiddenInTests = [
  {
    selector: 'MemberExpression[object.name=/^(test|it|describe|suite)$/][property.name=/^(only|skip|todo|fails)$/]',
    message: 'every test runs and must pass',
  },
  {
    selector: 'CallExpression[callee.name=/^(test|it)$/] > ObjectExpression > Property[key.name=/^(only|skip|todo|fails|retry)$/]',
    message: 'every test runs and must pass at its first try',
  },
  {
    selector:
      'Program:has(MemberExpression[property.name="concurrent"]) > ImportDeclaration[source.value="vitest"] > ImportSpecifier[imported.name="expect"]',
    message:
      'concurrent tests take `expect` from their context: the imported one counts its assertions for whichever test runs at the moment',
  },
];
const noExportAll = { selector: 'ExportAllDeclaration', message: 'a door names what it gives, one by one' };
const nodeGlobals = [
  'process',
  'console',
  'performance',
  'URL',
  'Buffer',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'fetch',
  'AbortSignal',
];

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'data/**', 'coverage/**', '**/*.js', '**/*.cjs'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: { allowDefaultProject: ['*.ts'] }, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', package: 'vitest', name: ['test', 'describe', 'it'] }] },
      ],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true, allowThrowingAny: true, allowRethrowing: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-syntax': ['error', noExportAll],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-empty': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-eval': 'error',
      'no-new-func': 'error',
    },
  },
  {
    files: ['compiler/**/*.ts', 'stdlib/**/*.ts'],
    ignores: ['**/*.test.ts', '**/testing/**'],
    rules: {
      'no-restricted-globals': ['error', ...impureGlobals.map((name) => ({ name, message: outside }))],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: outside },
        { object: 'Math', property: 'random', message: outside },
        { object: 'globalThis', property: 'process', message: outside },
        { object: 'globalThis', property: 'console', message: outside },
      ],
      'no-restricted-syntax': [
        'error',
        noExportAll,
        { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: outside },
        { selector: 'CallExpression[callee.name="Date"]', message: outside },
      ],
    },
  },
  {
    files: ['**/*.test.ts', '**/*.tiny.ts'],
    rules: { 'no-restricted-syntax': ['error', noExportAll, ...forbiddenInTests] },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: Object.fromEntries(nodeGlobals.map((name) => [name, 'readonly'])) },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-undef': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', noExportAll],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-empty': 'error',
      'no-unreachable': 'error',
      'no-dupe-keys': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-eval': 'error',
      'no-new-func': 'error',
    },
  },
  {
    // The parser's own signals, caught where a construct is given up: they never leave it.
    files: ['compiler/1-parse/cursor.ts'],
    rules: { '@typescript-eslint/only-throw-error': 'off' },
  },
);
