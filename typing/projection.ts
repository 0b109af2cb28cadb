/* oxlint-disable max-lines -- two tables by kind of node, which call each other */
// A rule or procedure as TypeScript: the same flow of values, so that TypeScript finds out what each expression may be. Variables are
// declared without a type, which makes TypeScript follow their assignments; RETURN does not end anything here, since it ends nothing there.
// What a statement does to the store, the outside or an object is of no interest and left out.
import type {
  Block,
  Call,
  Condition,
  Execute,
  Expression,
  If,
  Lambda,
  MethodCall,
  Ref,
  ResourceStatement,
  Select,
  Statement,
  Value,
  ValueSet,
} from '../compiler/ast.ts';
import { type AnyNode, childrenOf, type Model, resultVariable } from '../compiler/index.ts';
import type { Overload } from '../stdlib/builtins/index.ts';
import { propertyType, tsInstance, tsScalar } from './declarations.ts';
import { isScalar } from './kinds.ts';
import type { TypeEnvironment } from './type-environment.ts';

export interface Projection {
  readonly text: string;
  /** Where the TypeScript of an expression stands, end exclusive. */
  readonly places: ReadonlyMap<object, readonly [start: number, end: number]>;
}
export interface ProjectionOptions {
  readonly model: Model;
  readonly environment: TypeEnvironment;
  readonly overloads: (name: string) => readonly Overload[];
}

export function project(options: ProjectionOptions): Projection {
  const writer = new Writer(options);
  writer.definition();
  return writer;
}

const SPECIAL: Readonly<Record<string, string>> = {
  any: 'any',
  null: 'any',
  never: 'any',
  Object: 'any',
  Number: 'any',
  List: '$List<any>',
  Sequence: '$Sequence<any>',
};
type Table<N extends { type: string }> = { [T in N['type']]?: (node: Extract<N, { type: T }>) => void };

class Writer implements Projection {
  text = '';
  readonly places = new Map<object, readonly [number, number]>();
  readonly #model: Model;
  readonly #types: TypeEnvironment['types'];
  readonly #procedures: TypeEnvironment['procedures'];
  readonly #overloads: ProjectionOptions['overloads'];
  #temporaries = 0;

  constructor({ model, environment, overloads }: ProjectionOptions) {
    this.#model = model;
    this.#types = environment.types;
    this.#procedures = environment.procedures;
    this.#overloads = overloads;
  }

  // ---------------------------------------------------------------- definitions
  definition(): void {
    const { definition, variables } = this.#model;
    this.#function('main', definition.body, variables.main);
    if (definition.type === 'Rule' && definition.timeout) this.#function('timeout', definition.timeout, variables.timeout);
  }

  /** Parameters are variables too: their type is that of what is given, until something else is assigned. */
  #function(name: string, body: readonly Statement[], variables: readonly string[]): void {
    const given = this.#given();
    this.#put(`function ${name}(${given.map(([variable, type]) => `p_${variable}: ${type}`).join(', ')}) `);
    this.#braced(() => {
      for (const [variable] of given) this.#put(`let v_${variable}; v_${variable} = p_${variable};\n`);
      for (const variable of variables) this.#put(`let v_${variable};\n`);
      for (const statement of body) this.#statement(statement);
    });
  }

  #given(): [name: string, type: string][] {
    const { procedure, rule } = this.#model;
    if (procedure) return procedure.parameters.map(({ name, type, array }) => [name, this.#named(type ?? 'Any', array)]);
    return (rule?.variables ?? []).map((variable) => [variable, this.#eventType(variable)]);
  }
  #named(type: string, multi: boolean): string {
    return propertyType({ type, multi }, this.#types);
  }

  /** Known when all triggers of the variable are about one type; several instances changed at once come as another object. */
  #eventType(variable: string): string {
    const specs = (this.#model.rule?.triggers ?? []).filter((spec) => spec.variable === variable);
    const before = this.#model.definition.type === 'Rule' && this.#model.definition.trigger.type === 'Before';
    const values = specs.flatMap(({ paths }) => paths).map((path) => /^\/types\/(.+)\/(insert|update|delete)$/.exec(path));
    const names = new Set(values.map((match) => match?.[1] ?? ''));
    const [name = ''] = names;
    const mayBeMany = !before && values.some((match) => match?.[2] !== 'insert');
    const instance = names.size === 1 && this.#types.has(name) ? tsInstance(name) : 'any';
    const value = instance !== 'any' && mayBeMany ? `${instance} & { ars_bulkOperation: $Boolean; qual: any; count: $Integer }` : instance;
    const binds = new Set(specs.map((spec) => spec.binds));
    if (binds.size !== 1) return 'any';
    return binds.has('event') ? `$Event<${value}>` : value;
  }

  // ---------------------------------------------------------------- writing
  #put(text: string): void {
    this.text += text;
  }
  #braced(inside: () => void): void {
    this.#put('{\n');
    inside();
    this.#put('}\n');
  }
  /** What is written for a node, with its place. */
  #placed(node: object, write: () => void): void {
    const start = this.text.length;
    write();
    this.places.set(node, [start, this.text.length]);
  }
  /** `head(a, b)` */
  #call(head: string, values: readonly (Value | null)[], more?: () => void): void {
    this.#put(`${head}(`);
    for (const value of values) {
      if (!value) continue;
      this.#value(value);
      this.#put(', ');
    }
    more?.();
    this.#put('null)');
  }

  // ---------------------------------------------------------------- statements
  #statement(node: Statement): void {
    const write = (this.#statements as Table<Statement>)[node.type] as ((node: Statement) => void) | undefined;
    if (write) write(node);
    else if (node.type === 'Select') this.#selectStatement(node);
    else {
      this.#value(node as Value);
      this.#put(';\n');
    }
  }
  #block(node: Block): void {
    this.#braced(() => {
      for (const statement of node.body) this.#statement(statement);
    });
  }

  /** Of all statements but those that are values, too: one that is missing is an error of types. */
  readonly #statements: Required<Table<Exclude<Statement, ResourceStatement>>> = {
    Var: (node) => this.#assigned(node.name.name, node.value),
    Assign: (node) => {
      if (node.target.type === 'Name' && node.operator === '=') return this.#assigned(node.target.name, node.value);
      if (node.target.type !== 'Name') {
        this.#call('$run', [node.target, node.value]);
        return this.#put(';\n');
      }
      const { name } = node.target;
      this.#put(`v_${name} = `);
      this.#placed(node, () => {
        this.#put(`$compute('${node.operator[0]}', `);
        this.#expression(node.target);
        this.#put(', ');
        this.#value(node.value);
        this.#put(')');
      });
      this.#put(';\n');
    },
    If: (node) => this.#if(node),
    For: (node) => this.#loop(node.variable.name, node.collection, node.until, () => this.#block(node.body)),
    While: (node) => {
      this.#call('while ($is<$Boolean>', [node.condition]);
      this.#put(') ');
      this.#block(node.body);
    },
    Try: (node) => {
      this.#put('try ');
      this.#block(node.body);
      this.#put('catch ');
      this.#braced(() => {
        this.#put(`let v_${node.variable.name}; v_${node.variable.name} = $any;\n`);
        this.#block(node.handler);
      });
      if (!node.finalizer) return;
      this.#put('finally ');
      this.#block(node.finalizer);
    },
    Return: (node) => this.#evaluated(node.value),
    ExpressionStatement: (node) => this.#evaluated(node.expression),
    Publish: (node) => this.#all(node),
    PublishRequest: (node) => this.#all(node),
    Create: (node) => this.#all(node),
    Drop: (node) => this.#all(node),
    Recommend: (node) => this.#all(node),
    Recommendations: (node) => {
      this.#put(`v_${node.result.name} = $is<$List<any>>();\n`);
      this.#loop(node.variable.name, node.collection, node.until, () => this.#block(node.body));
    },
  };

  #assigned(name: string, value: Value | null): void {
    this.#put(`v_${name} = `);
    if (value) this.#value(value);
    else this.#put('$any');
    this.#put(';\n');
  }
  #evaluated(value: Value | null): void {
    this.#call('$run', [value]);
    this.#put(';\n');
  }
  /** The expressions below, without a value. */
  #all(node: object): void {
    this.#call('$run', valuesBelow(node));
    this.#put(';\n');
  }

  #if(node: If): void {
    this.#call('if ($is<$Boolean>', [node.condition]);
    this.#put(') ');
    this.#block(node.then);
    if (!node.otherwise) return;
    this.#put('else ');
    if (node.otherwise.type === 'If') this.#if(node.otherwise);
    else this.#block(node.otherwise);
  }

  /** The variable is the block's own; the collection is evaluated once, before. */
  #loop(variable: string, collection: Value, until: Expression | null, body: () => void): void {
    const temporary = `$${++this.#temporaries}`;
    this.#put(`const ${temporary} = `);
    this.#value(collection);
    this.#put(';\nwhile ($is<$Boolean>()) ');
    this.#braced(() => {
      this.#put(`let v_${variable}; v_${variable} = $element(${temporary});\n`);
      if (until) this.#evaluated(until);
      body();
    });
  }

  /** As a statement it assigns its result to a variable (language.md E4); with a block it goes over the rows. */
  #selectStatement(node: Select): void {
    const variable = this.#model.selects.get(node);
    if (variable !== undefined) {
      this.#put(`v_${variable} = `);
      this.#value(node);
      return this.#put(';\n');
    }
    if (!node.processing) return this.#evaluated(node);
    this.#evaluated({ ...node, processing: null });
    const { until, block } = node.processing;
    const row = resultVariable(node);
    this.#put('while ($is<$Boolean>()) ');
    this.#braced(() => {
      if (row) this.#put(`let v_${row.name}; v_${row.name} = $is<${this.#row(node)}>();\n`);
      if (until) this.#evaluated(until);
      this.#block(block);
    });
  }

  // ---------------------------------------------------------------- values
  #value(node: Value): void {
    this.#placed(node, () => {
      const write = this.#values[node.type] as ((node: Value) => void) | undefined;
      if (write) write(node);
      else this.#call('$is<any>', valuesBelow(node));
    });
  }
  #expression(node: Expression): void {
    this.#value(node);
  }

  readonly #values: Table<Value> = {
    Integer: () => this.#put('$is<$Integer>()'),
    Interval: () => this.#put('$is<$Integer>()'),
    Real: () => this.#put('$is<$Real>()'),
    String: () => this.#put('$is<$String>()'),
    Boolean: () => this.#put('$is<$Boolean>()'),
    Null: () => this.#put('$any'),
    Star: () => this.#put('$any'),
    Array: (node) => this.#call('$is<$List<any>>', node.elements),
    Object: (node) =>
      this.#call(
        '$is<any>',
        node.members.map((member) => member.value),
      ),
    Name: (node) => this.#put(this.#model.bareLogs.has(node) ? '$any' : `v_${node.name}`),
    Member: (node) => {
      const constant = this.#model.constants.get(node);
      if (constant) return this.#put(`$is<${this.#result(constant.name)}>()`);
      this.#expression(node.object);
      this.#put(`[${JSON.stringify(node.property)}]`);
    },
    Subscript: (node) => {
      this.#put('$at(');
      this.#expression(node.object);
      this.#put(', ');
      this.#expression(node.index);
      this.#put(')');
    },
    Call: (node) => this.#invocation(node),
    MethodCall: (node) => this.#invocation(node),
    Unary: (node) => {
      if (node.operator === '!') return this.#call('$is<$Boolean>', [node.operand]);
      this.#put('$same(');
      this.#expression(node.operand);
      this.#put(')');
    },
    Binary: (node) => {
      if (!ARITHMETIC.has(node.operator)) return this.#call('$is<$Boolean>', [node.left, node.right]);
      this.#put(`$compute('${node.operator}', `);
      this.#expression(node.left);
      this.#put(', ');
      this.#expression(node.right);
      this.#put(')');
    },
    Logical: (node) => this.#call('$is<$Boolean>', [node.left, node.right]),
    Ternary: (node) => {
      this.#call('(($is<boolean>', [node.condition]);
      this.#put(') ? ');
      this.#expression(node.then);
      this.#put(' : ');
      this.#expression(node.otherwise);
      this.#put(')');
    },
    Postfix: (node) => {
      this.#put('$same(');
      this.#expression(node.target);
      this.#put(')');
    },
    Lambda: (node) => this.#lambda(node),
    Filter: (node) => this.#lazy(node.variable.name, node.collection, node.until, node.body, '$Sequence<any>'),
    Map: (node) => this.#lazy(node.variable.name, node.collection, node.until, node.body, '$Sequence<any>'),
    Select: (node) => {
      const row = this.#row(node);
      const one = node.cardinality === 'one' || node.cardinality === 'exactlyOne';
      const isApart = node.processedBy !== null || node.processing !== null || node.fromSource;
      const type = isApart ? 'any' : one ? row : node.cardinality === 'sequence' ? `$Sequence<${row}>` : `$List<${row}>`;
      this.#call(`$is<${type}>`, [...conditionValues(node.where), ...node.options.map((option) => option.value)], () => {
        if (node.processing) this.#function_(() => this.#block(node.processing!.block), resultVariable(node)?.name);
      });
    },
    Insert: (node) => this.#call(`$is<${this.#stored(node.target, node.values, node.processedBy !== null)}>`, writtenValues(node.values)),
    Upsert: (node) => this.#call(`$is<${this.#stored(node.target, node.values, node.processedBy !== null)}>`, writtenValues(node.values)),
    Update: (node) => {
      this.#call('$is<any>', [...writtenValues(node.values), ...conditionValues(node.where)], () => {
        if (node.onError) this.#function_(() => this.#block(node.onError!.block), node.onError.variable.name);
      });
    },
    Execute: (node) => this.#execute(node),
  };

  /** The values below run at another time: a function of their own, in which TypeScript knows nothing of variables around it. */
  #function_(body: () => void, variable?: string): void {
    this.#put(`(() => { ${variable === undefined ? '' : `let v_${variable}; v_${variable} = $any; `}`);
    body();
    this.#put('}), ');
  }

  #lazy(variable: string, collection: Value, until: Expression | null, body: Block, type: string): void {
    this.#put(`$is<${type}>(() => {\n`);
    this.#loop(variable, collection, until, () => this.#block(body));
    this.#put('})');
  }

  #lambda(node: Lambda): void {
    this.#put(`$lambda((${node.parameters.map(({ name }) => `v_${name}: any`).join(', ')}) => `);
    if (node.body.type === 'Block') this.#block(node.body);
    else {
      this.#put('(');
      this.#expression(node.body);
      this.#put(')');
    }
    this.#put(')');
  }

  #invocation(node: Call | MethodCall): void {
    const target = this.#model.calls.get(node);
    const args = [...node.arguments.positional, ...node.arguments.named.map((argument) => argument.value)];
    const receiver = target?.receiver ?? (node.type === 'MethodCall' ? node.object : null);
    const result =
      target?.kind === 'builtin' ? this.#result(target.info.name) : this.#returned(target?.kind === 'user' ? target.names : []);
    this.#call(`$is<${result}>`, [receiver, ...args]);
  }

  #execute(node: Execute): void {
    const target = this.#model.calls.get(node);
    const type = node.procedure === null || node.processedBy ? 'any' : this.#returned(target?.kind === 'user' ? target.names : []);
    this.#call(`$is<${type}>`, [...node.arguments.positional, ...node.arguments.named.map((argument) => argument.value)], () => {
      if (node.processing) this.#function_(() => this.#block(node.processing!.block), node.alias?.name);
    });
  }

  /** The result of a built-in, when all declarations of its name agree on it. */
  #result(name: string): string {
    const results = new Set(this.#overloads(name).map(({ result }) => result));
    const [only] = results;
    if (results.size !== 1 || only === undefined) return 'any';
    return only
      .split('|')
      .map((one) => SPECIAL[one] ?? tsScalar(one))
      .join(' | ');
  }
  #returned(names: readonly string[]): string {
    const procedure = names.map((name) => this.#procedures.get(name)).find((found) => found !== undefined);
    const returns = procedure?.returns;
    if (!returns) return 'any';
    const one = isScalar(returns.type) || this.#types.has(returns.type) ? this.#named(returns.type, false) : 'any';
    return returns.cardinality === 'array' ? `$List<${one}>` : returns.cardinality === 'sequence' ? `$Sequence<${one}>` : one;
  }

  /** A row of a SELECT: an instance, unless its bindings make something else of it. */
  #row(node: Select): string {
    if (
      node.fromSource ||
      node.groupBy.length > 0 ||
      node.bindings?.some((binding) => binding.value !== null || binding.path.parts.length > 1)
    )
      return 'any';
    return this.#instance(node.from);
  }
  #stored(target: Ref, values: ValueSet, isApart: boolean): string {
    return isApart || !('pairs' in values) ? 'any' : this.#instance(target);
  }
  #instance(ref: Ref): string {
    const name = ref.type === 'QualifiedName' ? this.#model.names.type(ref.text) : '';
    return this.#types.has(name) ? tsInstance(name) : 'any';
  }
}

const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '**']);
const EXPRESSIONS: ReadonlySet<string> = new Set(
  (
    'Integer Real String Boolean Null Interval Array Object Name Member Subscript Call MethodCall Unary Binary Logical Ternary Postfix ' +
    'Lambda Star Select Insert Upsert Update Delete Execute Filter Map'
  ).split(' '),
);

/** The outermost expressions below a node. References to resources are none. */
function valuesBelow(node: object): Value[] {
  return childrenOf(node).flatMap((child) => {
    if (child.type === 'QualifiedName' || child.type === 'VariableRef' || child.type === 'Block') return [];
    if (isCondition(child)) return conditionValues(child as Condition);
    if ('target' in node && node.target === child) return [];
    return EXPRESSIONS.has(child.type) ? [child as Value] : valuesBelow(child);
  });
}
const isCondition = (node: AnyNode): boolean => ['LogicalCondition', 'NotCondition', 'Comparison', 'QueryObject'].includes(node.type);

/** The right sides of a condition: its left sides are properties, and a bare path may be one. */
function conditionValues(node: Condition | null): Value[] {
  if (!node || node.type === 'QueryObject') return [];
  if (node.type === 'Comparison') return [node.right];
  return node.type === 'NotCondition' ? conditionValues(node.operand) : node.terms.flatMap(conditionValues);
}
const writtenValues = (values: ValueSet): Value[] => ('pairs' in values ? values.pairs.map((pair) => pair.value) : [values.expression]);
