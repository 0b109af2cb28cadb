// Which folder may import which. Run by `npm test`.

/** From the top down: each may import those below it, and nothing above it. */
const layers = ['server', 'engine', 'features', 'resources', 'runtime', 'sandbox', 'identity', 'platform', 'model', 'stdlib', 'compiler'];
/** The rooms of a layer, from the top down: each may import those after it, and no room that comes before. */
const rooms = {
  server: ['cli', 'websocket', 'http', 'transport'],
  engine: ['forwarding'],
  features: [
    ...[
      'backups',
      'collaboration',
      'deployment',
      'federation',
      'types',
      'subscriptions',
      'procedures',
      'builtins',
      'services',
      'notifications',
    ],
    ...['sources', 'schedules', 'topics', 'rules', 'projects', 'secrets', 'scalars', 'quotas', 'profiles', 'nodes', 'groups'],
    ...['documents', 'diagnostics', 'delivery', 'audits', 'accounts'],
  ],
  resources: [
    ...[
      'requests',
      'operations',
      'definitions',
      'aggregate',
      'instances',
      'collections',
      'access',
      'scalars',
      'catalog',
      'representation',
      'quotas',
    ],
  ],
  runtime: [
    ...['correlation', 'cluster', 'runs', 'events', 'context', 'shared-state', 'programs', 'admission', 'triggers', 'transactions'],
    'timers',
  ],
  platform: ['mongo', 'structures', 'stalls', 'mongod', 'keys', 'egress', 'clock', 'bus', 'about'],
  model: ['query', 'values', 'types', 'errors'],
  stdlib: ['isolate', 'builtins', 'operators', 'geo', 'convert', 'values'],
};
const beside = ['typing', 'inbox', 'case-runner', 'conformance', 'bench', 'examples', 'scripts'];
const oneOf = (names) => `^(${names.join('|')})/`;
const ours = oneOf([...layers, ...beside]);
const service = oneOf(['model', 'platform', 'identity', 'sandbox', 'runtime', 'resources', 'features', 'engine', 'server']);
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const noTests = '\\.(test|brokers)\\.ts$';

module.exports = {
  forbidden: [
    forbid(
      'no-cycles',
      'two files that import each other are one file, or need a third',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    forbid(
      'compiler-alone',
      'the compiler imports nothing of ours',
      { path: '^compiler/', pathNot: noTests },
      { path: ours, pathNot: '^compiler/' },
    ),
    forbid(
      'stdlib-types-only',
      "the standard library knows only the compiler's public types",
      { path: '^stdlib/', pathNot: noTests },
      { path: ours, pathNot: '^(stdlib/|compiler/(types|index)\\.ts$)' },
    ),
    forbid(
      'stdlib-no-compiler-code',
      'types of the compiler, not its code',
      { path: '^stdlib/', pathNot: noTests },
      { path: '^compiler/', dependencyTypesNot: ['type-only'] },
    ),
    ...layers
      .slice(1)
      .map((layer, i) =>
        forbid(
          `${layer}-in-its-layer`,
          'a layer imports those below it',
          { path: `^${layer}/`, pathNot: `(${noTests}|/testing/)` },
          { path: oneOf([...layers.slice(0, i + 1), ...beside]) },
        ),
      ),
    ...Object.entries(rooms).flatMap(([layer, names]) =>
      names
        .slice(1)
        .map((room, i) =>
          forbid(
            `${layer}-${room}-in-its-place`,
            'a room imports those below it in its layer, types included; a new room gets a place in the list above',
            { path: `^${layer}/${room}/`, pathNot: `(${noTests}|/testing/)` },
            { path: oneOf(names.slice(0, i + 1).map((name) => `${layer}/${name}`)) },
          ),
        ),
    ),
    ...Object.entries(rooms).map(([layer, names]) =>
      forbid(
        `${layer}-rooms-are-listed`,
        'a room that is not in the list above has no place yet',
        { path: `^${layer}/[^/]+/`, pathNot: `(${noTests}|^${layer}/(${names.join('|')}|testing)/)` },
        { path: `^${layer}/` },
      ),
    ),
    ...Object.entries(rooms).flatMap(([layer, names]) =>
      names.map((room) =>
        forbid(
          `door-of-${layer}-${room}`,
          'a room is entered by its index.ts',
          { path: oneOf(layers), pathNot: `(${noTests}|/testing/|^${layer}/${room}/|^stdlib/errors\\.ts$)` },
          { path: `^${layer}/${room}/`, pathNot: `^${layer}/${room}/(index\\.ts$|testing/)` },
        ),
      ),
    ),
    forbid(
      'typing-on-compiler',
      'static types know the language and its built-ins, and no running service',
      { path: '^typing/', pathNot: noTests },
      { path: oneOf([...layers.slice(0, -2), ...beside.slice(1)]) },
    ),
    forbid(
      'typing-for-tools',
      'TypeScript is loaded by those who ask for advice, never by what serves',
      { path: oneOf([...layers.slice(1), 'server/(http|websocket)']), pathNot: noTests },
      { path: '^typing/|node_modules/typescript/' },
    ),
    forbid(
      'server-on-runtime',
      'the server uses the runtime, and neither suites nor scripts',
      { path: '^server/', pathNot: noTests },
      { path: '^(conformance|bench|examples|scripts)/' },
    ),
    forbid(
      'case-runner-by-doors',
      '`cascade test` alone runs cases, by their doors',
      { path: '^server/', pathNot: noTests },
      { path: '^case-runner/', pathNot: '^case-runner/(client|runner)/index\\.ts$' },
    ),
    forbid(
      'case-runner-alone',
      'what runs cases knows a base URL only',
      { path: '^case-runner/', pathNot: noTests },
      { path: ours, pathNot: '^case-runner/' },
    ),
    forbid(
      'inbox-alone',
      'the page of the inbox runs in browsers: it imports nothing of ours, and nobody imports it',
      { path: '^inbox/', pathNot: '\\.(test|browser)\\.tsx?$|/testing/' },
      { path: oneOf([...layers, ...beside.filter((name) => name !== 'inbox')]) },
    ),
    forbid(
      'inbox-by-the-browser',
      'the page is built, never imported',
      { path: oneOf([...layers, ...beside.filter((name) => name !== 'inbox')]) },
      { path: '^inbox/' },
    ),
    forbid(
      'outside-conformance',
      'the suite knows a base URL only',
      { path: '^conformance/', pathNot: noTests },
      { path: ours, pathNot: '^(conformance/|case-runner/(client|runner)/index\\.ts$)' },
    ),
    forbid(
      'bench-by-doors',
      'benchmarks measure the rooms through their doors',
      { path: '^bench/' },
      { path: ours, pathNot: '^(bench/|.*/index\\.ts$)' },
    ),
    forbid(
      'outside-examples',
      'an example uses what a user can use; its tests run the blocks of the documents, too',
      { path: '^examples/' },
      { path: ours, pathNot: '^(examples/|conformance/client/index\\.ts$|scripts/(doc-blocks/run|testing/amount)\\.ts$)' },
    ),
    forbid(
      'compiler-pure',
      'no files, clock, network in compiler and stdlib',
      { path: '^(compiler|stdlib)/', pathNot: noTests },
      { dependencyTypes: ['core'] },
    ),
    forbid(
      'doors',
      'a top folder is entered by its door (or its own inner doors)',
      { path: oneOf(['typing', ...layers.slice(0, -2)]), pathNot: noTests },
      { path: '^compiler/', pathNot: '^compiler/(index|types|ast)\\.ts$' },
    ),
    forbid(
      'one-transport-a-file',
      'the libraries that speak HTTP and WebSocket are behind one interface each',
      {
        path: service,
        pathNot: '^(server/transport|platform/egress|features/sources/protocols/mqtt)/|^features/federation/socket-client\\.test',
      },
      { path: 'node_modules/(uWebSockets\\.js|ws)/' },
    ),
    forbid('resolvable', 'what is imported exists', {}, { couldNotResolve: true, pathNot: '^estree$' }),
    forbid(
      'declared',
      'what is imported is in package.json',
      { pathNot: `(${noTests}|\\.config\\.)` },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    forbid(
      'installed',
      'what is built and served needs no development package: `npm start` installs none',
      {
        path: oneOf([...layers, 'inbox', 'typing', 'case-runner']),
        pathNot: `(${noTests}|/testing/|\\.(brokers|browser)\\.ts$)`,
      },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|data|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
