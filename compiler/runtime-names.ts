// What an emitted module may take from its runtime `$rt`, and which fields of its run `$` it may touch: the emitter writes no others, the
// verifier lets no others pass, and stdlib/isolate gives exactly these.

export const RUNTIME_NAMES = [
  // values and operators (language.md 4.4, 4.6, 4.7)
  'real',
  'made',
  'add',
  'sub',
  'mul',
  'div',
  'mod',
  'pow',
  'neg',
  'pos',
  'inc',
  'dec',
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
  'inArray',
  'regex',
  'geo',
  'truth',
  // references (4.8)
  'get',
  'at',
  'atInside',
  'getOrNull',
  'atOrNull',
  'set',
  'setAt',
  'receiver',
  // loops and sequences (4.2, 5.2, 5.3)
  'iterate',
  'step',
  'pull',
  'value',
  'close',
  'left',
  'elements',
  'filter',
  'map',
  'rows',
  'array',
  'arrayNow',
  'block',
  // the run
  'op',
  'slice',
  'call',
  'callMethod',
  'host',
  'isShared',
  'entry',
  'contents',
  'joined',
  'caught',
  'passed',
  'stateGet',
  'stateSet',
  'live',
  'raise',
  'line',
  // statements (5.5 to 5.15)
  'reference',
  'query',
  'pattern',
  'geoOperand',
  'valueSet',
  'given',
  'series',
  'publishValue',
  'project',
  'aggregate',
  'sourceResult',
  'sourceRows',
  'failure',
  'recommend',
  // PROCESSED BY (7)
  'nodeItems',
  'nodeResults',
  'nodeValue',
] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];

/** `$rt.builtin('trim')` is the built-in as a function, `$rt.method` takes the receiver first, `$rt.named` an object of arguments. */
export const BUILTIN_FORMS = ['builtin', 'method', 'named', 'namedMethod'] as const;
export type BuiltinForm = (typeof BUILTIN_FORMS)[number];

/** Fields of `$`: the fuel that loops use up, and the constants of the program. */
export const RUN_FIELDS = ['fuel', 'k'] as const;
