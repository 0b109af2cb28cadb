// What the type checker doesn't say: promises nobody waits for, cases nobody handles, and the purity of compiler and stdlib. The same run checks the
// types (`--type-check`). Form is biome's, directions between folders are dependency-cruiser's (.dependency-cruiser.cjs).
import { defineConfig } from 'oxlint';

const outside = 'compiler and stdlib are pure: the clock, chance and the process come in as data';
const impureGlobals = [
  ...['process', 'console', 'performance', 'crypto', 'fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'require'],
  'Buffer',
];
const impureProperties = [
  { object: 'Date', property: 'now' },
  { object: 'Math', property: 'random' },
  { object: 'globalThis', property: 'process' },
  { object: 'globalThis', property: 'console' },
];

/** Nodes of the syntax tree that are not written, by selectors (scripts/lint). */
interface Forbidden {
  readonly selector: string;
  readonly message: string;
}
const exportAll: Forbidden = { selector: 'ExportAllDeclaration', message: 'a door names what it gives, one by one' };
const impureDates: readonly Forbidden[] = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: outside },
  { selector: 'CallExpression[callee.name="Date"]', message: outside },
];
/** A test is run, and so are those beside it: what is not to be run is deleted, what fails now and then is quarantined (scripts/testing). */
const weakTests: readonly Forbidden[] = [
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
/** Words that only this project used, in the place of which docs/glossary.md has the field's. */
const privateWords = `
  Soon Busy told Told toldAt tellAway heard Heard heir residents isPassing surrounding surroundings Surrounding
  Surroundings Happening happening Losers losers Missed VersionMiss TickRow TickWriter Family Station Talk StateRoom
  SharedThing Trail Turns Shares TooMuch atHost Doer doer ChildKeys childKey StepKeeper StartAgain asRun RuleLinks
  KeptOutput KeptPrograms compareYouth crowd upkeep aside together laidOut layOut eased holdCleaning asFault`
  .trim()
  .split(/\s+/);
const unused = { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_', ignoreRestSiblings: true } as const;

export default defineConfig({
  plugins: ['typescript'],
  jsPlugins: ['./scripts/lint/index.mjs'],
  categories: { correctness: 'off' },
  options: { reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['dist', 'data', 'coverage', '**/*.js', '**/*.cjs'],
  rules: {
    'eslint/no-unused-vars': ['error', unused],
    'eslint/eqeqeq': ['error', 'always', { null: 'ignore' }],
    'eslint/no-empty': 'error',
    'eslint/no-unreachable': 'error',
    'eslint/no-dupe-keys': 'error',
    'eslint/no-var': 'error',
    'eslint/prefer-const': 'error',
    'eslint/no-eval': 'error',
    'eslint/no-new-func': 'error',
    'eslint/id-denylist': ['error', ...privateWords],
    'cascade/forbidden': ['error', exportAll],
  },
  overrides: [
    {
      files: ['**/*.ts', '**/*.tsx'],
      rules: {
        'typescript/no-floating-promises': [
          'error',
          { allowForKnownSafeCalls: [{ from: 'package', package: 'vitest', name: ['test', 'describe', 'it'] }] },
        ],
        'typescript/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
        'typescript/await-thenable': 'error',
        'typescript/return-await': ['error', 'in-try-catch'],
        'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
        'typescript/only-throw-error': ['error', { allowThrowingUnknown: true, allowThrowingAny: true, allowRethrowing: true }],
        'typescript/no-explicit-any': 'error',
        'typescript/no-unnecessary-type-assertion': 'error',
        'typescript/consistent-type-imports': 'error',
      },
    },
    {
      // Small modules with one subject. Where a file or function is longer, a comment with the exception says why.
      files: ['**/*.ts'],
      excludeFiles: ['**/*.test.ts', '**/testing/**', '**/*.brokers.ts', '**/*.browser.ts'],
      rules: {
        'eslint/max-lines': ['error', { max: 400 }],
        'eslint/max-lines-per-function': ['error', { max: 80 }],
      },
    },
    {
      files: ['**/*.mjs'],
      env: { node: true },
      rules: { 'eslint/no-undef': 'error' },
    },
    {
      files: ['**/*.test.ts', '**/*.tiny.ts'],
      rules: { 'cascade/forbidden': ['error', exportAll, ...weakTests] },
    },
    {
      // Scripts and networks of tests have faults that are made on purpose; what the API refuses is an apiError.
      files: ['{model,platform,identity,sandbox,runtime,resources,features,engine,server}/**/*.ts'],
      rules: { 'eslint/id-denylist': ['error', ...privateWords, 'fault', 'isFault'] },
    },
    {
      files: ['compiler/**/*.ts', 'stdlib/**/*.ts'],
      excludeFiles: ['**/*.test.ts', '**/testing/**'],
      rules: {
        'eslint/no-restricted-globals': ['error', ...impureGlobals.map((name) => ({ name, message: outside }))],
        'eslint/no-restricted-properties': ['error', ...impureProperties.map((one) => ({ ...one, message: outside }))],
        'cascade/forbidden': ['error', exportAll, ...impureDates],
      },
    },
    {
      // The parser's own signals, caught where a construct is given up: they never leave it.
      files: ['compiler/1-parse/cursor.ts'],
      rules: { 'typescript/only-throw-error': 'off' },
    },
  ],
});
