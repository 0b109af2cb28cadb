// What all emitters share: the state of one module, and the way to each other's tables, which would else import in a circle.
import type * as es from 'estree';
import type { Expression, Identifier, Span, Statement, Value } from '../ast.ts';
import type { Model } from '../2-check/index.ts';
import type { BuiltinForm, RuntimeName } from '../runtime-names.ts';
import { realTree } from '../2-check/constants.ts';
import { Lines } from '../lines.ts';
import * as b from './build.ts';

/** What becomes of the value of a body's last statement: it is returned; nobody wants it; nobody wants it and an effect there is the
 * run's last (a tail effect); only a RETURN counts (BEFORE rules). */
export type Tail = 'value' | 'none' | 'effect' | 'before';

/** The emitters of the other files, by what they make. */
export interface Emitters {
  value(node: Value, module: ModuleWriter): es.Expression;
  statement(node: Statement, tail: Tail, module: ModuleWriter): es.Statement[];
}

/** Thrown when a text would become far larger than it is; compile() makes a diagnostic of it. */
export class TooLarge extends Error {}
const MAX_COPIES = 10_000;
/** About what an Array or Object takes, and each member of it. */
const EMPTY_BYTES = 32;
const MEMBER_BYTES = 16;
const PREFIX: Record<BuiltinForm, string> = { builtin: 'b', method: 'm', named: 'n', namedMethod: 'o' };

/** The row that a computed binding is worked out over. */
export interface Row {
  /** The variable of the emitted function. */
  readonly name: string;
  /** What the text calls the row. */
  readonly variable: string | null;
  /** Of the row of a group: the paths that name its properties. */
  readonly groups: readonly string[];
  /** Aggregates inside the binding: call → the row's property that holds the value. */
  readonly hidden: ReadonlyMap<object, string> | null;
}

export class ModuleWriter {
  readonly model: Model;
  readonly #emitters: Emitters;
  readonly #lift: boolean;
  readonly #lines: Lines;
  /** The run is to tell which lines it takes (trace.ts). */
  readonly #traced: boolean;
  readonly helpers = new Set<RuntimeName>();
  /** Constants that hold built-ins: name → [form, name of the built-in]. */
  readonly builtins = new Map<string, [BuiltinForm, string]>();
  /** Reals that need a box: text → constant. */
  readonly reals = new Map<string, { name: string; value: number }>();
  /** Lifted literals as inner-JSON trees. */
  readonly constants: unknown[] = [];
  #sites = 0;
  #copies = 0;
  #names = 0;
  #temporaries: string[] = [];
  /** The temporary that holds the result of each recommendation statement around. */
  readonly recommended = new Map<object, es.Identifier>();
  /** Above 0 where code may run again and again, so that what literals make must be counted. */
  repeated = 0;
  /** Inside a binding `x = expr` names are properties of this row. */
  row: Row | null = null;
  /** Parameters of lambdas inside it. */
  rowLocals: readonly string[] = [];
  /** Inside what a condition asks for a null step gives null (language.md 4.8). */
  nullSafe = false;

  constructor(model: Model, source: string, emitters: Emitters, traced: boolean) {
    this.model = model;
    this.#emitters = emitters;
    this.#traced = traced;
    this.#lift = model.rule !== null;
    this.repeated = model.rule ? 0 : 1; // procedures may call themselves
    this.#lines = new Lines(source);
  }

  // -------------------------------------------------------------- to the other emitters

  value(node: Value): es.Expression {
    return this.#emitters.value(node, this);
  }
  values(nodes: readonly Value[]): es.Expression[] {
    return nodes.map((node) => this.value(node));
  }
  /** A JavaScript boolean (language.md 4.4). */
  truth(node: Value): es.Expression {
    const value = this.value(node);
    return isBoolean(node) ? value : this.helper('truth', node, value);
  }
  statements(body: readonly Statement[], tail: Tail): es.Statement[] {
    return body.flatMap((node, index) => this.#emitters.statement(node, index === body.length - 1 ? tail : 'none', this));
  }
  suspends(node: object | readonly object[] | null): boolean {
    return this.model.effects.suspends(node);
  }

  /** The truth of a condition that decides what runs next. */
  decision(node: Value): es.Expression {
    const truth = this.truth(node);
    return this.#traced ? this.trace(node, ['condition'], truth) : truth;
  }
  /** In a traced module, what tells the value that a block's own variable begins with. */
  traceOf(name: Identifier): es.Statement[] {
    return this.#traced ? [b.statement(this.trace(name, [name.name], variable(name.name)))] : [];
  }
  /** Tells a line, and values by name if there are any; gives the last of them. */
  trace(at: Span, names: readonly string[], ...values: es.Expression[]): es.Expression {
    const place = [b.literal(nameOf(this.model)), b.literal(this.#position(at.start).line)];
    return this.helper('line', at, b.id('$'), ...place, b.array(names.map(b.literal)), ...values);
  }

  // -------------------------------------------------------------- pieces of a module

  /** A call of a runtime helper that stands for the place `at` of the text. */
  helper(name: RuntimeName, at: Span, ...args: es.Expression[]): es.CallExpression {
    this.helpers.add(name);
    return b.call(this.located(b.id(`$${name}`), at), ...args);
  }
  located(node: es.Identifier, at: Span): es.Identifier {
    return { ...node, loc: { start: this.#position(at.start), end: this.#position(at.end) } };
  }
  builtin(form: BuiltinForm, name: string, at: Span): es.Identifier {
    const constant = `${PREFIX[form]}_${name.replaceAll('.', '_')}`;
    this.builtins.set(constant, [form, name]);
    return this.located(b.id(constant), at);
  }
  /** `yield* $op(…)` */
  operation(kind: string, at: Span, payload: es.Expression, tail = false): es.Expression {
    return b.delegate(this.helper('op', at, b.id('$'), this.site(), b.literal(kind), payload, b.literal(tail)));
  }
  /** The number of a place that asks the host. */
  site(): es.Expression {
    return b.literal(this.#sites++);
  }
  name(base: string): string {
    return `$${base}${this.#names++}`;
  }
  /** A variable of the function that is being emitted. */
  temporary(): es.Identifier {
    const name = this.name('t');
    this.#temporaries.push(name);
    return b.id(name);
  }
  /** Emits a function's body; temporaries made on the way are declared in it. */
  body(make: () => es.Statement[]): es.Statement[] {
    const outer = this.#temporaries;
    this.#temporaries = [];
    const statements = make();
    const declared = this.#temporaries;
    this.#temporaries = outer;
    if (declared.length === 0) return statements;
    return [b.declare('let', ...declared.map((name) => [name, b.literal(null)] as const)), ...statements];
  }
  /** Called for every expression that is emitted a second time. */
  copy(): void {
    if (++this.#copies > MAX_COPIES) throw new TooLarge();
  }

  /** Emits code that may run again and again. */
  again<T>(make: () => T): T {
    this.repeated++;
    const made = make();
    this.repeated--;
    return made;
  }

  // -------------------------------------------------------------- literals

  /** A new Array or Object of `size` members: counted where it may be one of many (language.md 10). */
  made(value: es.Expression, size: number, at: Span): es.Expression {
    return this.repeated === 0 ? value : this.helper('made', at, b.id('$'), b.literal(EMPTY_BYTES + size * MEMBER_BYTES), value);
  }

  /** In rules literals are lifted, so that rules that differ in them only share a module (mechanisms.md f). */
  string(value: string): es.Expression {
    return this.#lift ? this.#lifted(value.startsWith('\u0001') ? `\u0001s${value}` : value) : b.literal(value);
  }
  integer(value: bigint): es.Expression {
    const narrow = Number(value);
    if (this.#lift) return this.#lifted(Number.isSafeInteger(narrow) ? narrow : `\u0001i${value}`);
    return Number.isSafeInteger(narrow) ? b.literal(narrow) : b.bigint(value);
  }
  real(value: number): es.Expression {
    if (this.#lift) return this.#lifted(realTree(value));
    if (!Number.isInteger(value) && Number.isFinite(value)) return b.literal(value);
    const text = Object.is(value, -0) ? '-0' : String(value);
    let constant = this.reals.get(text);
    if (!constant) this.reals.set(text, (constant = { name: `$c${this.reals.size}`, value }));
    return b.id(constant.name);
  }
  /** Equal literals have a place each: else rules would differ by which of theirs are equal. */
  #lifted(tree: unknown): es.Expression {
    return b.element(b.field(b.id('$'), 'k'), this.constants.push(tree) - 1);
  }

  #position(offset: number): es.Position {
    const { line, column } = this.#lines.position(offset);
    return { line, column: column - 1 };
  }
}

/** The full name, without a version. */
function nameOf({ definition: { name }, package: prefix, procedure }: Model): string {
  const own = 'text' in name ? name.text : name.name;
  return procedure?.name ?? (prefix === null ? own : `${prefix}.${own}`);
}

/** Expressions whose value is a Boolean whatever their operands are. */
function isBoolean(node: Value): boolean {
  if (node.type === 'Boolean' || node.type === 'Logical') return true;
  if (node.type === 'Unary') return node.operator === '!';
  return node.type === 'Binary' && BOOLEAN_OPERATORS.has(node.operator);
}
const BOOLEAN_OPERATORS: ReadonlySet<string> = new Set([
  '<',
  '<=',
  '>',
  '>=',
  '==',
  '!=',
  'in',
  'regex',
  'geonear',
  'geointersects',
  'geowithin',
]);

/** How an error names what was null (language.md 4.8); a literal in it is lifted like others, so that rules that differ in it share a module. */
export function emitPath(node: Expression, module: ModuleWriter): es.Expression {
  const { text, literal } = pathOf(node);
  return literal ? module.string(text) : b.literal(text);
}

function pathOf(node: Expression): { text: string; literal: boolean } {
  const plain = (text: string) => ({ text, literal: false });
  const hung = (object: Expression, text: string, literal = false) => {
    const before = pathOf(object);
    return { text: before.text + text, literal: before.literal || literal };
  };
  if (node.type === 'Name') return plain(node.name);
  if (node.type === 'Null') return plain('null');
  if (node.type === 'Member') return hung(node.object, `.${node.property}`);
  if (node.type === 'Call') return plain(`${node.callee.text}()`);
  if (node.type === 'MethodCall') return hung(node.object, `.${node.method.name}()`);
  if (node.type !== 'Subscript') return plain('the value');
  const { index } = node;
  if (index.type === 'Integer') return hung(node.object, `[${index.value}]`, true);
  if (index.type === 'String') return hung(node.object, `[${JSON.stringify(index.value)}]`, true);
  const inside = pathOf(index);
  return hung(node.object, `[${inside.text === 'the value' ? '…' : inside.text}]`, inside.literal);
}
/** A variable's value; one of the service's state is asked for. @param node the name, as the checker has seen it */
export function readVariable(node: Span, name: string, module: ModuleWriter): es.Expression {
  if (!module.model.state.has(node)) return variable(name);
  return b.delegate(module.helper('stateGet', node, b.id('$'), module.site(), b.literal(name)));
}
export function writeVariable(node: Span, name: string, value: es.Expression, module: ModuleWriter): es.Expression {
  if (!module.model.state.has(node)) return b.assign(variable(name), value);
  return b.delegate(module.helper('stateSet', node, b.id('$'), module.site(), b.literal(name), value));
}
export const variable = (name: string): es.Identifier => b.id(`v_${name}`);
