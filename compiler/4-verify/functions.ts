// The inside of an emitted function. Three things carry the safety: only constants of the module are called (never a value of the
// program); `$` is only handed to those; and nothing is reached through a member but `$.fuel` and `$.k[n]`.
import type * as es from 'estree';
import { refuse } from './refuse.ts';

/** User variables, and the emitter's own. */
const VARIABLE_NAME = /^(?:v_[A-Za-z_]\w*|\$[a-z]+\d+)$/;
type Visit = (node: never) => void;
type Scope = Map<string, 'let' | 'const'>;

export class FunctionVerifier {
  readonly #constants: ReadonlySet<string>;
  readonly #scopes: Scope[] = [];
  readonly #statements: Record<string, Visit>;
  readonly #expressions: Record<string, Visit>;

  /** @param constants names that `$rt` gave */
  constructor(constants: ReadonlySet<string>) {
    this.#constants = constants;
    this.#statements = this.#makeStatements();
    this.#expressions = this.#makeExpressions();
  }

  /** `main` or `timeout`: the run comes first. */
  declared(node: es.FunctionDeclaration): void {
    const [run, ...params] = node.params;
    if (run?.type !== 'Identifier' || run.name !== '$') refuse(node, 'a function takes its run');
    this.#function(node, params);
  }

  #function(node: es.FunctionDeclaration | es.FunctionExpression | es.ArrowFunctionExpression, params: readonly es.Pattern[]): void {
    if (node.async) refuse(node, 'async');
    this.#inScope(() => {
      for (const param of params) this.#parameter(param);
      if (node.body.type === 'BlockStatement') this.#body(node.body.body);
      else this.#expression(node.body);
    });
  }

  #parameter(node: es.Pattern): void {
    if (node.type === 'AssignmentPattern') {
      if (node.right.type !== 'Literal' || node.right.value !== null || 'regex' in node.right) refuse(node, 'a default that is not null');
      this.#parameter(node.left);
    } else if (node.type === 'Identifier') this.#declare(node, 'let');
    else refuse(node, 'a pattern');
  }

  #declare(node: es.Identifier, kind: 'let' | 'const'): void {
    if (!VARIABLE_NAME.test(node.name) || this.#constants.has(node.name)) refuse(node, `a variable called ${node.name}`);
    this.#scopes.at(-1)?.set(node.name, kind);
  }

  #inScope(inside: () => void): void {
    this.#scopes.push(new Map());
    inside();
    this.#scopes.pop();
  }

  #body(statements: readonly es.Statement[]): void {
    for (const statement of statements) this.#visit(this.#statements, statement);
  }
  #statement(node: es.Statement | null | undefined): void {
    if (node) this.#visit(this.#statements, node);
  }
  #expression(node: es.Node | null | undefined): void {
    if (node) this.#visit(this.#expressions, node);
  }
  #visit(table: Record<string, Visit>, node: es.Node): void {
    const visit = Object.hasOwn(table, node.type) ? (table[node.type] as (node: es.Node) => void) : undefined;
    if (!visit) return refuse(node, node.type);
    visit(node);
  }

  #makeStatements() {
    return {
      BlockStatement: (node: es.BlockStatement) => this.#inScope(() => this.#body(node.body)),
      VariableDeclaration: (node: es.VariableDeclaration) => this.#declaration(node),
      ExpressionStatement: (node: es.ExpressionStatement) => this.#expression(node.expression),
      ReturnStatement: (node: es.ReturnStatement) => this.#expression(node.argument),
      IfStatement: (node: es.IfStatement) => {
        this.#expression(node.test);
        this.#statement(node.consequent);
        this.#statement(node.alternate);
      },
      WhileStatement: (node: es.WhileStatement) => {
        this.#expression(node.test);
        this.#statement(node.body);
      },
      BreakStatement: (node: es.BreakStatement) => {
        if (node.label) refuse(node, 'a label');
      },
      TryStatement: (node: es.TryStatement) => {
        this.#statement(node.block);
        this.#handler(node.handler, node);
        this.#statement(node.finalizer);
      },
    };
  }

  #declaration(node: es.VariableDeclaration): void {
    if (node.kind !== 'let' && node.kind !== 'const') refuse(node, node.kind);
    for (const { id, init } of node.declarations) {
      if (id.type !== 'Identifier' || !init) return refuse(node, 'a pattern, or no value');
      this.#expression(init);
      this.#declare(id, node.kind);
    }
  }

  #handler(node: es.CatchClause | null | undefined, at: es.Node): void {
    const { param } = node ?? {};
    if (!node || param?.type !== 'Identifier') return refuse(at, 'a handler without its error');
    this.#inScope(() => {
      this.#declare(param, 'const');
      this.#statement(node.body);
    });
  }

  #makeExpressions() {
    return {
      Identifier: (node: es.Identifier) => {
        if (node.name !== 'undefined' && this.#kindOf(node.name) === undefined) refuse(node, `the name ${node.name}`);
      },
      Literal: (node: es.Literal) => {
        if ('regex' in node) refuse(node, 'a regular expression');
      },
      UnaryExpression: (node: es.UnaryExpression) => {
        if (node.operator !== '!' && !(node.operator === '-' && node.argument.type === 'Literal')) refuse(node, node.operator);
        this.#expression(node.argument);
      },
      BinaryExpression: (node: es.BinaryExpression) => {
        if (node.operator !== '<' || !isFuelSpent(node.left) || !isZero(node.right)) refuse(node, node.operator);
      },
      LogicalExpression: (node: es.LogicalExpression) => {
        if (node.operator === '??') refuse(node, node.operator);
        this.#expression(node.left);
        this.#expression(node.right);
      },
      ConditionalExpression: (node: es.ConditionalExpression) => {
        for (const part of [node.test, node.consequent, node.alternate]) this.#expression(part);
      },
      SequenceExpression: (node: es.SequenceExpression) => {
        for (const part of node.expressions) this.#expression(part);
      },
      AssignmentExpression: (node: es.AssignmentExpression) => {
        if (node.operator !== '=' || node.left.type !== 'Identifier') return refuse(node, 'that assignment');
        if (this.#kindOf(node.left.name) !== 'let') refuse(node, `an assignment to ${node.left.name}`);
        this.#expression(node.right);
      },
      ArrayExpression: (node: es.ArrayExpression) => {
        for (const part of node.elements) {
          if (part === null) refuse(node, 'a hole');
          this.#expression(part);
        }
      },
      ObjectExpression: (node: es.ObjectExpression) => {
        for (const part of node.properties) this.#property(part);
      },
      MemberExpression: (node: es.MemberExpression) => {
        if (!isConstantOfRun(node)) refuse(node, 'a member');
      },
      CallExpression: (node: es.CallExpression) => this.#call(node),
      YieldExpression: (node: es.YieldExpression) => {
        if (!node.delegate || node.argument?.type !== 'CallExpression') return refuse(node, 'yield');
        this.#call(node.argument);
      },
      ArrowFunctionExpression: (node: es.ArrowFunctionExpression) => this.#function(node, node.params),
      FunctionExpression: (node: es.FunctionExpression) => {
        if (!node.generator || node.id) refuse(node, 'a function that is neither an arrow nor a generator');
        this.#function(node, node.params);
      },
    };
  }

  /** A key is a name or a text; `__proto__` only as a computed text, which makes a plain property of it. */
  #property(node: es.Property | es.SpreadElement): void {
    if (node.type !== 'Property' || node.kind !== 'init' || node.method || node.shorthand) return refuse(node, 'that property');
    const { key } = node;
    const text =
      key.type === 'Identifier' && !node.computed ? key.name : key.type === 'Literal' && typeof key.value === 'string' ? key.value : null;
    if (text === null || (text === '__proto__') !== node.computed) return refuse(node, 'that key');
    this.#expression(node.value);
  }

  /** Only constants of the module are called, and only they are handed the run. */
  #call(node: es.CallExpression): void {
    if (node.callee.type !== 'Identifier' || !this.#constants.has(node.callee.name) || isOptional(node)) return refuse(node, 'that call');
    if (/^\$c\d+$/.test(node.callee.name)) refuse(node, 'a call of a number');
    for (const [index, argument] of node.arguments.entries())
      if (!(index === 0 && argument.type === 'Identifier' && argument.name === '$')) this.#expression(argument);
  }

  #kindOf(name: string): 'let' | 'const' | undefined {
    if (/^\$c\d+$/.test(name) && this.#constants.has(name)) return 'const';
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const kind = this.#scopes[i]?.get(name);
      if (kind) return kind;
    }
    return undefined;
  }
}

const isOptional = (node: es.Node): boolean => (node as { optional?: boolean }).optional === true;

/** `--$.fuel` */
function isFuelSpent(node: es.Node): boolean {
  if (node.type !== 'UpdateExpression' || node.operator !== '--' || !node.prefix) return false;
  return isFieldOfRun(node.argument, 'fuel');
}
const isZero = (node: es.Node): boolean => node.type === 'Literal' && node.value === 0;

function isFieldOfRun(node: es.Node, name: string): boolean {
  if (node.type !== 'MemberExpression' || node.computed || node.optional) return false;
  return (
    node.object.type === 'Identifier' && node.object.name === '$' && node.property.type === 'Identifier' && node.property.name === name
  );
}

/** `$.k[3]` */
function isConstantOfRun(node: es.MemberExpression): boolean {
  if (!node.computed || node.optional || !isFieldOfRun(node.object, 'k')) return false;
  return node.property.type === 'Literal' && Number.isInteger(node.property.value) && (node.property.value as number) >= 0;
}
