// Random trees of the whole grammar, for the laws of parser and printer. Only shapes that some text has: where the grammar reads a word as
// a keyword, no name is put there. Trees carry no spans.
import fc from 'fast-check';
import type { Definition } from '../../ast.ts';

type Tree = { readonly type: string; readonly [field: string]: unknown };
const PLAIN = ['a', 'b', 'pump', 'x1', '_y', 'Order', 'rate'];
/** Names all the same: contextual keywords, and words of other languages. */
const ODD = [
  ...[
    'event',
    'source',
    'in',
    'end',
    'match',
    'limit',
    'where',
    'one',
    'from',
    'type',
    'until',
    'minutes',
    'new',
    'recommend',
    'desc',
    'all',
  ],
  ...[
    'and',
    'or',
    'regex',
    'to',
    'with',
    'as',
    'on',
    'order',
    'group',
    'by',
    'do',
    'is',
    'like',
    'left',
    'typeof',
    'break',
    'continue',
    'let',
  ],
  ...[
    'while',
    'each',
    'async',
    'array',
    'sequence',
    'request',
    'into',
    'series',
    'values',
    'context',
    'within',
    'eq',
    'switch',
    'list',
    'log',
  ],
];
const PROPERTIES = [...PLAIN, ...ODD, 'delete', 'if', 'select', 'null', 'true', 'var', 'map', 'system'];
const TYPES = [...PLAIN, 'type', 'event', 'match', 'topic', 'com'];
const TEXTS = [
  '',
  'plain',
  '/a/b',
  'two\nlines',
  'tab\t"quote" \'single\'',
  '\\d+\\.\\d',
  'ünïcode €',
  '\ud83d\ude00',
  '\ud800',
  '\u0001\u2028',
  '${x}',
];
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>=', 'in', 'regex', 'geonear', 'geointersects', 'geowithin'];
const UNITS = [1n, 1_000n, 60_000n, 3_600_000n, 86_400_000n, 604_800_000n];

/** Picks by fast-check's randomness, so that a counter-example shrinks. */
class Grower {
  readonly #nat: (most: number) => number;
  /** Nodes that may still be made: what is left when it is used up are leaves. */
  #budget: number;

  constructor(nat: (most: number) => number, budget: number) {
    this.#nat = nat;
    this.#budget = budget;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.#nat(choices.length - 1)]!;
  }
  chance(percent: number): boolean {
    return this.#nat(99) < percent;
  }
  maybe<T>(percent: number, make: () => T): T | null {
    return this.chance(percent) ? make() : null;
  }
  some<T>(most: number, make: () => T, least = 0): T[] {
    const length = this.#budget <= 0 ? least : least + this.#nat(most - least);
    return Array.from({ length }, make);
  }
  name(): string {
    return this.chance(75) ? this.pick(PLAIN) : this.pick(ODD);
  }
  identifier(name = this.name()): Tree {
    return { type: 'Identifier', name };
  }
  qualified(first: readonly string[], most = 2): Tree {
    const parts = [this.pick(first), ...this.some(most, () => this.pick(PROPERTIES))].map((name) => this.identifier(name));
    return { type: 'QualifiedName', parts, text: parts.map((part) => part['name']).join('.') };
  }
  path(): Tree {
    return this.qualified(this.chance(80) ? PLAIN : ['type', 'limit', 'list', 'event']);
  }
  string(): Tree {
    return { type: 'String', value: this.pick(TEXTS) };
  }
  ref(strings = false): Tree {
    if (strings && this.chance(50)) return this.string();
    return this.chance(25) ? { type: 'VariableRef', variable: this.identifier() } : this.qualified(TYPES);
  }

  // ---------------------------------------------------------------- expressions
  expression(): Tree {
    this.#budget -= 1;
    if (this.#budget <= 0 || this.chance(30)) return this.leaf();
    return this.pick<() => Tree>([
      () => this.binary(),
      () => this.binary(),
      () => ({ type: 'Logical', operator: this.pick(['&&', '||']), left: this.expression(), right: this.expression() }),
      () => ({ type: 'Unary', operator: this.pick(['-', '+', '!']), operand: this.expression() }),
      () => ({ type: 'Ternary', condition: this.expression(), then: this.expression(), otherwise: this.expression() }),
      () => ({ type: 'Member', object: this.expression(), property: this.pick(PROPERTIES) }),
      () => ({ type: 'Subscript', object: this.expression(), index: this.expression() }),
      () => this.call(),
      () => ({
        type: 'MethodCall',
        object: this.expression(),
        method: this.identifier(this.pick(PROPERTIES)),
        arguments: this.arguments(),
      }),
      () => ({ type: 'Postfix', operator: this.pick(['++', '--']), target: this.target() }),
      () => ({ type: 'Array', elements: this.some(3, () => this.expression()) }),
      () => this.object(),
      () => this.lambda(),
    ])();
  }
  leaf(): Tree {
    return this.pick<() => Tree>([
      () => ({ type: 'Name', name: this.name() }),
      () => ({ type: 'Integer', value: this.pick([0n, 5n, 42n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)]) }),
      () => ({ type: 'Real', value: this.pick([0, 0.5, 4, 1e21, 1e300, 5e-324, 1.5e-7, 123456.789]) }),
      () => this.string(),
      () => ({ type: 'Boolean', value: this.chance(50) }),
      () => ({ type: 'Null' }),
      () => ({ type: 'Interval', milliseconds: this.pick([0n, 1n, 5n, 90n]) * this.pick(UNITS) }),
    ])();
  }
  binary(): Tree {
    const operator = this.pick(['**', '*', '/', '%', '+', '-', ...COMPARISONS]);
    return { type: 'Binary', operator, left: this.expression(), right: this.expression() };
  }
  call(): Tree {
    return { type: 'Call', callee: this.callee(), arguments: this.arguments() };
  }
  callee(): Tree {
    if (this.chance(90)) return this.qualified([...PLAIN, ...ODD]);
    const parts = [this.identifier('system'), this.identifier(this.pick(PROPERTIES))];
    return { type: 'QualifiedName', parts, text: parts.map((part) => part['name']).join('.') };
  }
  arguments(): Tree {
    if (this.chance(30)) return { type: 'Arguments', positional: [], named: this.some(2, () => this.namedArgument(), 1) };
    return { type: 'Arguments', positional: this.some(3, () => this.value()).map(endingItsKeys), named: [] };
  }
  namedArgument(): Tree {
    return { type: 'NamedArgument', name: this.identifier(this.pick(PROPERTIES)), value: this.value() };
  }
  target(): Tree {
    // RECOMMEND of a MATCH block takes `recommend[x]` for itself
    const name = this.name();
    let target: Tree = { type: 'Name', name: name === 'recommend' ? 'a' : name };
    for (const isMember of this.some(2, () => this.chance(60)))
      target = isMember
        ? { type: 'Member', object: target, property: this.pick(PROPERTIES) }
        : { type: 'Subscript', object: target, index: this.expression() };
    return target;
  }
  object(): Tree {
    return { type: 'Object', members: this.some(3, () => ({ type: 'ObjectMember', key: this.key(), value: this.expression() })) };
  }
  key(): string {
    return this.chance(80) ? this.pick(PROPERTIES) : this.pick(TEXTS);
  }
  lambda(): Tree {
    const parameters = this.some(3, () => this.identifier());
    return { type: 'Lambda', parameters, body: this.chance(40) ? this.block() : this.expression() };
  }
  value(): Tree {
    return this.chance(80) || this.#budget <= 0 ? this.expression() : this.resource('value');
  }

  // ---------------------------------------------------------------- conditions
  condition(): Tree {
    this.#budget -= 1;
    if (this.#budget > 0 && this.chance(25))
      return { type: 'LogicalCondition', operator: this.pick(['and', 'or']), terms: this.some(3, () => this.condition(), 2) };
    if (this.#budget > 0 && this.chance(15)) return { type: 'NotCondition', operand: this.condition() };
    if (this.chance(70)) return { type: 'Comparison', operator: this.pick(COMPARISONS), left: this.expression(), right: this.expression() };
    return { type: 'QueryObject', expression: this.pick([() => this.object(), () => this.callOf(), () => this.target()])() };
  }
  callOf(): Tree {
    return { type: 'Call', callee: this.qualified(PLAIN), arguments: this.arguments() };
  }

  // ---------------------------------------------------------------- resource statements
  options(): Tree[] {
    return this.some(2, () => ({ type: 'Option', key: this.chance(70) ? this.pick(PLAIN) : this.key(), value: this.expression() }));
  }
  resource(place: 'value' | 'statement' | 'collection'): Tree {
    this.#budget -= 2;
    return this.pick<() => Tree>([
      () => this.select(place),
      () => this.select(place),
      () => ({
        type: 'Insert',
        series: this.chance(20),
        target: this.ref(),
        ...this.values(),
        options: this.options(),
        processedBy: this.nodes(place),
      }),
      () => ({ type: 'Upsert', target: this.ref(), ...this.values(), options: this.options(), processedBy: this.nodes(place) }),
      () => this.update(place),
      () => ({ type: 'Delete', target: this.ref(), options: this.options(), where: this.condition(), processedBy: this.nodes(place) }),
      () => this.execute(place),
      () => ({ type: this.pick(['Filter', 'Map']), ...this.loopHead(), body: this.block() }),
    ])();
  }
  select(place: string): Tree {
    const fromSource = this.chance(15);
    const cardinality = this.maybe(40, () => this.pick(['sequence', 'array', 'one', 'exactlyOne']));
    const where = this.maybe(60, () => this.condition());
    const processedBy = where ? this.nodes(place) : null;
    return {
      type: 'Select',
      cardinality,
      bindings: this.maybe(40, () => this.some(3, () => this.binding(), 1)),
      fromSource,
      from: this.ref(fromSource),
      alias: this.maybe(30, () => this.identifier()),
      options: this.options(),
      where,
      groupBy: this.chance(15) ? this.some(2, () => this.path(), 1) : [],
      orderBy: this.chance(20) ? this.some(2, () => ({ type: 'OrderKey', path: this.path(), descending: this.chance(50) }), 1) : [],
      processing: processedBy || place === 'collection' ? null : this.maybe(15, () => this.processing()),
      processedBy,
    };
  }
  binding(): Tree {
    const star: Tree = {
      type: 'Call',
      callee: nameOf('count'),
      arguments: { type: 'Arguments', positional: [{ type: 'Star' }], named: [] },
    };
    return { type: 'Binding', path: this.path(), value: this.maybe(40, () => (this.chance(30) ? star : this.expression())) };
  }
  processing(): Tree {
    return { type: 'ProcessingBlock', until: this.maybe(30, () => this.expression()), block: this.block() };
  }
  values(): { values: unknown } {
    if (this.chance(30)) return { values: { expression: this.expression() } };
    return { values: { pairs: this.some(3, () => ({ type: 'Pair', key: this.key(), value: this.value() }), 1) } };
  }
  update(place: string): Tree {
    const handler = this.maybe(30, () => this.handler());
    const tail = { onError: handler, processedBy: handler ? null : this.nodes(place) };
    return { type: 'Update', target: this.ref(), ...this.values(), options: this.options(), where: this.condition(), ...tail };
  }
  handler(): Tree {
    return { type: 'ErrorHandler', variable: this.identifier(), block: this.block() };
  }
  execute(place: string): Tree {
    const isAll = this.chance(25);
    const processing = place === 'collection' ? null : this.maybe(25, () => this.processing());
    return {
      type: 'Execute',
      async: this.chance(20),
      procedure: isAll ? null : this.qualified(PLAIN),
      arguments: this.arguments(),
      where: isAll ? this.condition() : null,
      options: this.options(),
      alias: processing ? this.identifier() : null,
      processing,
      processedBy: processing ? null : this.nodes(place),
    };
  }
  nodes(place: string): Tree | null {
    if (!this.chance(20)) return null;
    const block = place === 'collection' ? null : this.maybe(50, () => this.block());
    return {
      type: 'ProcessedBy',
      alias: this.maybe(40, () => this.identifier()),
      cardinality: this.maybe(30, () => this.pick(['one', 'atLeastOne', 'exactlyOne'])),
      nodes: this.pick<() => unknown>([
        () => 'all',
        () => ({ type: 'VariableRef', variable: this.identifier() }),
        () => this.nodeCondition(),
      ])(),
      status: this.maybe(30, () => this.identifier()),
      context: this.maybe(30, () => this.identifier()),
      within: this.maybe(30, () => this.expression()),
      until: block ? this.maybe(30, () => this.expression()) : null,
      block,
      onError: this.maybe(20, () => this.handler()),
    };
  }
  /** Begins with no word: `all` and `one` would be keywords there. */
  nodeCondition(): Tree {
    return { type: 'NotCondition', operand: this.condition() };
  }

  // ---------------------------------------------------------------- statements
  block(isMatch = false): Tree {
    return { type: 'Block', body: this.statements(isMatch) };
  }
  statements(isMatch = false): Tree[] {
    return this.some(3, () => this.statement(isMatch));
  }
  loopHead(): { variable: Tree; collection: Tree; until: Tree | null } {
    const collection = this.chance(70) ? this.expression() : this.resource('collection');
    return { variable: this.identifier(), collection, until: this.maybe(30, () => this.expression()) };
  }
  statement(isMatch: boolean): Tree {
    this.#budget -= 1;
    if (isMatch && this.chance(40)) return { type: 'Recommend', candidate: this.expression(), options: this.options() };
    return this.pick<() => Tree>([
      () => ({ type: 'Var', name: this.identifier(), value: this.maybe(80, () => this.value()) }),
      () => ({ type: 'Assign', target: this.target(), operator: this.pick(['=', '+=', '-=', '*=', '/=', '%=']), value: this.value() }),
      () => ({ type: 'ExpressionStatement', expression: this.expression() }),
      () => ({ type: 'ExpressionStatement', expression: this.expression() }),
      () => this.conditional(isMatch),
      () => ({ type: 'For', ...this.loopHead(), body: this.block(isMatch) }),
      () => ({ type: 'While', condition: this.value(), body: this.block(isMatch) }),
      () => this.attempt(),
      () => ({ type: 'Return', value: this.maybe(70, () => this.value()) }),
      () => this.publish(),
      () => ({ type: 'PublishRequest', target: this.ref(), value: this.expression(), processedBy: this.nodes('statement') }),
      () => this.definition(),
      () => this.recommendations(),
      () => this.resource('statement'),
      () => this.resource('statement'),
    ])();
  }
  conditional(isMatch: boolean): Tree {
    const otherwise = this.maybe(40, () => (this.chance(50) ? this.conditional(isMatch) : this.block(isMatch)));
    return { type: 'If', condition: this.value(), then: this.block(isMatch), otherwise };
  }
  attempt(): Tree {
    return {
      type: 'Try',
      body: this.block(),
      variable: this.identifier(),
      handler: this.block(),
      finalizer: this.maybe(30, () => this.block()),
    };
  }
  publish(): Tree {
    const kind = this.pick(['topic', 'serviceEvent', 'source']);
    const schedule = kind === 'topic' ? this.maybe(30, () => this.expression()) : null;
    const using = kind === 'source' ? this.maybe(30, () => this.expression()) : null;
    return {
      type: 'Publish',
      value: this.expression(),
      kind,
      target: this.ref(true),
      schedule,
      using,
      processedBy: this.nodes('statement'),
    };
  }
  definition(): Tree {
    const kind = this.pick(['rule', 'procedure', 'type', 'topic', 'source', 'node']);
    if (this.chance(40)) return { type: 'Drop', kind, target: this.ref(true), processedBy: this.nodes('statement') };
    const tail = { value: this.expression(), options: this.options(), processedBy: this.nodes('statement') };
    return { type: 'Create', verb: this.pick(['create', 'alter']), kind, ...tail };
  }
  recommendations(): Tree {
    return { type: 'Recommendations', ...this.loopHead(), result: this.identifier(), body: this.block(true) };
  }

  // ---------------------------------------------------------------- definitions
  head(): { package: Tree | null; imports: Tree[]; description: string; body: Tree[] } {
    return {
      package: this.maybe(30, () => ({ type: 'Package', name: this.qualified(PLAIN) })),
      imports: this.chance(30) ? this.some(2, () => this.import()) : [],
      description: this.pick(['', 'One line.', 'Two\n\n  lines: // and /* signs */', '* starred\n/ slashed']),
      body: this.statements(),
    };
  }
  import(): Tree {
    const kind = this.pick(['service', 'procedure', 'type', 'topic', 'source', 'eventstream']);
    return {
      type: 'Import',
      kind,
      target: this.chance(70) ? this.qualified(PLAIN) : this.string(),
      alias: this.maybe(50, () => this.identifier()),
    };
  }
  procedure(): Tree {
    return {
      type: 'Procedure',
      ...this.head(),
      name: this.qualified(PLAIN),
      private: this.chance(20),
      access: this.maybe(30, () => this.pick(['global', 'multiPartition', 'stateless'])),
      hidden: this.chance(20),
      parameters: this.some(3, () => this.parameter()),
      returns: this.maybe(40, () => ({
        type: 'ReturnType',
        typeRef: this.typeRef(),
        cardinality: this.maybe(50, () => this.pick(['array', 'sequence'])),
      })),
      options: this.options(),
    };
  }
  typeRef(): Tree {
    return { type: 'TypeRef', name: this.qualified(PLAIN), argument: this.maybe(30, () => ({ type: 'Integer', value: 40n })) };
  }
  parameter(): Tree {
    return {
      type: 'Parameter',
      name: this.identifier(),
      typeRef: this.maybe(60, () => this.typeRef()),
      array: this.chance(20),
      required: this.chance(20),
      default: this.maybe(20, () => this.expression()),
      description: this.maybe(20, () => this.string()),
    };
  }
  rule(): Tree {
    const isBefore = this.chance(25);
    return {
      type: 'Rule',
      ...this.head(),
      name: this.identifier(),
      version: this.maybe(40, () => ({ text: this.pick(['1.0', 'V9', '02.00-beta', '_', '1e5', '-']) })),
      where: this.maybe(40, () => this.condition()),
      activationConstraint: this.maybe(20, () => (this.chance(50) ? this.string() : this.object())),
      trigger: isBefore ? this.before() : this.when(),
      timeout: isBefore ? null : this.maybe(30, () => this.statements()),
    };
  }
  before(): Tree {
    return { type: 'Before', operation: this.pick(['insert', 'update', 'delete']), target: this.qualified(TYPES), ...this.tail() };
  }
  when(): Tree {
    const trigger = this.chance(40) ? this.correlation() : this.merge();
    const expect =
      trigger.type === 'CorrelationTrigger'
        ? null
        : this.maybe(30, () => ({ kind: this.pick(['every', 'within']), interval: this.expression() }));
    return { type: 'When', trigger, expect };
  }
  merge(): Tree {
    if (this.chance(40)) return this.single();
    const branches = this.some(3, () => this.single(), 1);
    const constraint = branches.length === 1 ? this.condition() : this.maybe(40, () => this.condition());
    return { type: 'MergeTrigger', branches, constraint };
  }
  correlation(): Tree {
    this.#budget -= 3;
    const side = (): Tree => (this.#budget > 0 && this.chance(30) ? this.correlation() : this.single());
    return {
      type: 'CorrelationTrigger',
      operator: this.pick(['before', 'after', 'and']),
      left: side(),
      right: side(),
      within: this.expression(),
      constraint: this.maybe(40, () => this.condition()),
    };
  }
  tail(): { alias: Tree | null; where: Tree | null } {
    return { alias: this.maybe(40, () => this.identifier()), where: this.maybe(50, () => this.condition()) };
  }
  single(): Tree {
    return this.pick<() => Tree>([
      () => ({ type: 'EventTrigger', path: this.string(), ...this.tail() }),
      () => ({ type: 'TopicTrigger', topic: this.string(), ...this.tail() }),
      () => ({ type: 'SourceTrigger', source: this.qualified(TYPES), ...this.tail() }),
      () => ({
        type: 'TypeTrigger',
        operation: this.maybe(75, () => this.pick(['insert', 'update', 'delete', 'request'])),
        target: this.qualified(TYPES),
        ...this.tail(),
      }),
    ])();
  }
}

const nameOf = (name: string): Tree => ({ type: 'QualifiedName', parts: [{ type: 'Identifier', name }], text: name });

/** An argument list would go on with the keys of an ORDER BY or GROUP BY: no text has such a SELECT before a comma. */
function endingItsKeys(value: Tree): Tree {
  if (value.type !== 'Select') return value;
  return { ...value, groupBy: [], orderBy: [] };
}

/** Rules and procedures of up to about `size` nodes. */
export const randomTree = (size = 40): fc.Arbitrary<Definition> =>
  fc.gen().map((g) => {
    const grower = new Grower((most) => g(fc.nat, most), size);
    return (grower.chance(50) ? grower.procedure() : grower.rule()) as unknown as Definition;
  });

/** The tree without its places, to compare by. */
export function withoutSpans(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutSpans);
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([name]) => name !== 'start' && name !== 'end' && name !== 'span' && !name.endsWith('Span'));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutSpans(value)]));
}
