// One body, in the order of its text: every name is declared before it is used, every call is resolved, every statement stands where it may
// (language.md 3.1, 3.2, 5). A table keyed on the node's type; a node without an entry only has its children looked at.
import type {
  Arguments,
  Block,
  Call,
  Comparison,
  Condition,
  Execute,
  Expression,
  Identifier,
  Insert,
  MethodCall,
  Option,
  ProcessedBy,
  PublishRequest,
  Recommendations,
  Ref,
  Select,
  Span,
  Statement,
} from '../ast.ts';
import { type CallResolver, dottedPath } from './calls.ts';
import type { Report } from './report.ts';
import { RowExpressionChecker, type RowFindings } from './row-expressions.ts';
import type { Scope } from './scope.ts';
import { type AnyNode, childrenOf } from './walk.ts';

/** Where all bodies of a text put what they find. */
export interface Findings extends RowFindings {
  readonly selects: Map<Select, string>;
  readonly barePaths: Set<Expression>;
  readonly bareLogs: Set<Expression>;
  readonly recommendations: Map<object, Recommendations>;
  readonly state: Set<object>;
  readonly mapReads: Set<object>;
}

type AnyVisit = (node: never) => void;

export class BodyChecker {
  readonly #scope: Scope;
  readonly #resolver: CallResolver;
  readonly #found: Findings;
  readonly #report: Report;
  readonly #rows: RowExpressionChecker;
  /** Whether any value here may be a shared Map. */
  readonly #mayHoldMaps: boolean;
  #recommendations: Recommendations | null = null;
  readonly #visitors: Record<string, AnyVisit>;

  constructor(scope: Scope, resolver: CallResolver, found: Findings, mayHoldMaps: boolean, report: Report) {
    this.#scope = scope;
    this.#resolver = resolver;
    this.#found = found;
    this.#mayHoldMaps = mayHoldMaps;
    this.#report = report;
    this.#rows = new RowExpressionChecker(resolver, found, report);
    this.#visitors = this.#table();
  }

  statements(body: readonly Statement[]): void {
    for (const statement of body) {
      if (statement.type === 'Select') this.#selectStatement(statement);
      else if (statement.type === 'Execute') this.#execute(statement);
      else this.#visit(statement);
    }
  }

  expression(node: Expression): void {
    this.#visit(node);
  }

  #visit(node: AnyNode | null): void {
    if (node === null) return;
    const visit = this.#visitors[node.type] as ((node: AnyNode) => void) | undefined;
    if (visit) visit(node);
    else for (const child of childrenOf(node)) this.#visit(child);
  }
  #visitAll(nodes: readonly (AnyNode | null)[]): void {
    for (const node of nodes) this.#visit(node);
  }

  // oxlint-disable-next-line max-lines-per-function -- a table: what is checked of each kind of node
  #table() {
    const scope = this.#scope;
    return {
      Block: (node: Block) => this.statements(node.body),
      Var: (node: AnyNode & { name: Identifier; value: AnyNode | null }) => {
        this.#value(node.value);
        scope.declare(node.name);
      },
      Assign: (node: AnyNode & { target: Expression; value: AnyNode }) => {
        if (node.target.type === 'Name') this.#assigned(node.target);
        else this.#visit(node.target);
        this.#value(node.value);
      },
      Return: (node: AnyNode & { value: AnyNode | null }) => this.#value(node.value),
      Postfix: (node: AnyNode & { target: Expression }) => {
        if (node.target.type === 'Name') this.#assigned(node.target);
        else this.#visit(node.target);
      },
      For: (node: Loop) => this.#loop(node),
      Filter: (node: Loop) => this.#loop(node),
      Map: (node: Loop) => this.#loop(node),
      Try: (node: AnyNode & { body: Block; variable: Identifier; handler: Block; finalizer: Block | null }) => {
        this.#visit(node.body);
        scope.block([node.variable], () => this.#visit(node.handler));
        this.#visit(node.finalizer);
      },
      Recommendations: (node: Recommendations) => this.#recommendationLoop(node),
      Recommend: (node: AnyNode & { candidate: Expression; options: readonly Option[] }) => {
        for (const { key, keySpan } of node.options.filter((option) => !/^(?:relevance|reason)$/i.test(option.key)))
          this.#report(keySpan, 'cascade.lang.option.unknown', `'${key}' is no option of RECOMMEND`);
        if (this.#recommendations) this.#found.recommendations.set(node, this.#recommendations);
        else this.#report(node, 'cascade.lang.syntax', 'RECOMMEND stands inside MATCH only');
        this.#visit(node.candidate);
        this.#visitAll(node.options);
      },
      Select: (node: Select) => this.#select(node),
      Update: (node: AnyNode & { onError: (Span & { variable: Identifier; block: Block }) | null }) => {
        for (const child of childrenOf(node)) if (child !== (node.onError as object)) this.#visit(child);
        if (node.onError) this.#handler(node.onError);
      },
      Insert: (node: Insert) => {
        if (node.series) this.#refuseNodes(node, 'INSERT SERIES');
        this.#visitAll(childrenOf(node));
      },
      PublishRequest: (node: PublishRequest) => {
        this.#refuseNodes(node, 'PUBLISH REQUEST');
        this.#visitAll(childrenOf(node));
      },
      Execute: (node: Execute) => {
        if (node.async) this.#report(node, 'cascade.lang.execute.async', 'EXECUTE ASYNC has no value');
        this.#execute(node);
      },
      ProcessedBy: (node: ProcessedBy) => this.#processedBy(node, null),
      VariableRef: ({ variable }: AnyNode & { variable: Identifier }) => {
        scope.use(variable.name, variable);
        if (scope.isState(variable.name)) this.#found.state.add(variable);
        if (!scope.has(variable.name) && variable.name === 'log')
          this.#report(variable, 'cascade.lang.variable.undeclared', "'log' is no variable that could hold a name");
      },
      QualifiedName: () => {},
      Name: (node: Extract<Expression, { type: 'Name' }>) => {
        scope.use(node.name, node);
        if (scope.isState(node.name)) this.#found.state.add(node);
        if (!scope.has(node.name)) this.#found.bareLogs.add(node);
      },
      Member: (node: Extract<Expression, { type: 'Member' }>) => this.#member(node),
      Subscript: (node: Extract<Expression, { type: 'Subscript' }>) => {
        this.#visitAll([node.object, node.index]);
        if (this.#mayHoldMaps) this.#found.mapReads.add(node);
      },
      Call: (node: Call) => {
        const target = this.#resolver.call(node, (name) => scope.isVariable(name) && !(name === 'log' && !scope.has('log')));
        this.#found.calls.set(node, target);
        const root = node.callee.parts[0];
        if (target.receiver && root) {
          scope.use(root.name, root);
          if (scope.isState(root.name)) this.#found.state.add(rootOf(target.receiver));
        }
        this.#arguments(node.arguments);
      },
      MethodCall: (node: MethodCall) => {
        this.#found.calls.set(node, this.#resolver.method(node));
        this.#visit(node.object);
        this.#arguments(node.arguments);
      },
      Lambda: (node: Extract<Expression, { type: 'Lambda' }>) => scope.block(node.parameters, () => this.#visit(node.body)),
      Comparison: (node: Comparison) => this.#comparison(node),
      QueryObject: (node: AnyNode & { expression: Expression }) => this.#queryObject(node.expression, null),
    };
  }

  /** What is given to a variable, or returned: with PROCESSED BY and without a block it is the deprecated array (language.md D9). */
  #value(node: AnyNode | null): void {
    const processedBy = (node as { processedBy?: ProcessedBy | null } | null)?.processedBy;
    if (processedBy) this.#arrayForm(processedBy);
    this.#visit(node);
  }

  #arrayForm(node: ProcessedBy): void {
    if (node.block || node.cardinality === 'one' || node.cardinality === 'exactlyOne') return;
    const clause = node.context ? 'CONTEXT TO' : node.onError ? 'ON ERROR' : null;
    if (clause) this.#report(node, 'cascade.lang.syntax', `${clause} belongs to a block: the array form of PROCESSED BY has none`);
    this.#report(node, 'cascade.lang.processedby.deprecated', 'PROCESSED BY with an array as its value is deprecated');
  }

  #assigned(target: Extract<Expression, { type: 'Name' }>): void {
    this.#scope.assign(target.name, target);
    if (this.#scope.isState(target.name)) this.#found.state.add(target);
  }

  /** A variable that a statement makes, which cannot be one of the state. */
  #result(name: Identifier): void {
    if (this.#scope.isState(name.name)) this.#scope.declare(name);
    else this.#scope.declareImplicitly(name.name, name);
  }

  #loop(node: Loop): void {
    this.#visit(node.collection);
    this.#scope.block([node.variable], () => {
      this.#visit(node.until);
      this.#visit(node.body);
    });
  }

  #recommendationLoop(node: Recommendations): void {
    this.#visit(node.collection);
    this.#result(node.result);
    const outer = this.#recommendations;
    this.#recommendations = node;
    this.#scope.block([node.variable], () => {
      this.#visit(node.until);
      this.#visit(node.body);
    });
    this.#recommendations = outer;
  }

  #handler(node: { variable: Identifier; block: Block }): void {
    this.#scope.block([node.variable], () => this.#visit(node.block));
  }

  #arguments(node: Arguments): void {
    this.#visitAll(node.positional);
    for (const argument of node.named) this.#visit(argument.value);
  }

  /** A step of a path; or a constant of a built-in service, as `Math.PI`. */
  #member(node: Extract<Expression, { type: 'Member' }>): void {
    const path = dottedPath(node);
    if (path && !this.#scope.isVariable(path[0] ?? '')) {
      const info = this.#resolver.builtin(path.join('.'));
      if (info && info.params.length === 0 && info.effect === 'pure') {
        this.#found.constants.set(node, info);
        return;
      }
    }
    this.#visit(node.object);
    if (this.#mayHoldMaps) this.#found.mapReads.add(node);
  }

  // -------------------------------------------------------------- SELECT

  #selectStatement(node: Select): void {
    this.#select(node);
    const variable = resultVariable(node);
    if (variable === null) {
      if (!node.processedBy) this.#report(node.from, 'cascade.lang.select.alias', 'the result of this SELECT needs a name: AS name');
    } else if (!node.processing && !node.processedBy?.block && !node.processedBy?.onError) {
      this.#scope.declareImplicitly(variable.name, variable);
      this.#found.selects.set(node, variable.name);
      if (this.#scope.isState(variable.name)) this.#found.state.add(node);
      if (node.processedBy) this.#arrayForm(node.processedBy);
    }
  }

  #select(node: Select): void {
    const variable = resultVariable(node);
    this.#visit(node.from);
    for (const { value } of node.bindings ?? []) if (value) this.#rows.check(value);
    this.#visitAll(node.options);
    if (node.where) this.#condition(node.where, variable?.name ?? null);
    if (node.fromSource && (node.where || node.groupBy.length > 0 || node.orderBy.length > 0))
      this.#report(node, 'cascade.lang.select.source', 'a query to a source has no WHERE, GROUP BY or ORDER BY');
    const { processing } = node;
    if (processing)
      this.#scope.block(variable ? [variable] : [], () => {
        this.#visit(processing.until);
        this.#visit(processing.block);
      });
    if (node.processedBy) this.#processedBy(node.processedBy, variable);
  }

  // -------------------------------------------------------------- conditions of queries

  #condition(node: Condition, variable: string | null): void {
    if (node.type === 'LogicalCondition') for (const term of node.terms) this.#condition(term, variable);
    else if (node.type === 'NotCondition') this.#condition(node.operand, variable);
    else if (node.type === 'Comparison') this.#comparison(node);
    else this.#queryObject(node.expression, variable);
  }

  #comparison(node: Comparison): void {
    if (dottedPath(node.left)) return this.#visit(node.right);
    const right = dottedPath(node.right);
    const isProperty = right !== null && !this.#scope.has(right[0] ?? '');
    const hint = isProperty ? `put ${right.join('.')} on the left` : undefined;
    this.#report(node.left, 'cascade.lang.syntax', 'the left side of a condition is a property path', hint);
    if (!isProperty) this.#visit(node.right);
  }

  /** A where-object in a variable, or a bare property (language.md W5). */
  #queryObject(node: Expression, variable: string | null): void {
    const path = dottedPath(node);
    const root = path?.[0] ?? '';
    if (path && (!this.#scope.has(root) || (root === variable && path.length > 1))) this.#found.barePaths.add(node);
    else this.#visit(node);
  }

  // -------------------------------------------------------------- EXECUTE, PROCESSED BY

  #execute(node: Execute): void {
    const target = this.#resolver.execute(node);
    if (target) this.#found.calls.set(node, target);
    if (node.async) this.#refuseNodes(node, 'EXECUTE ASYNC');
    this.#arguments(node.arguments);
    this.#visitAll(node.options);
    for (const { key, keySpan } of node.options.filter((option) => option.key.toLowerCase() === 'partitionkey')) {
      // Neither nodes nor the procedures of a condition are told of a partition.
      if (node.processedBy) this.#report(keySpan, 'cascade.federation.statement.unsupported', `nodes take no ${key}`);
      else if (!node.procedure) this.#report(keySpan, 'cascade.lang.option.unknown', `'${key}' is no option of EXECUTE *`);
    }
    if (node.where) this.#condition(node.where, null);
    const { processing } = node;
    if (processing)
      this.#scope.block(node.alias ? [node.alias] : [], () => {
        this.#visit(processing.until);
        this.#visit(processing.block);
      });
    if (node.processedBy) this.#processedBy(node.processedBy, node.alias);
  }

  #refuseNodes({ processedBy }: { processedBy: ProcessedBy | null }, statement: string): void {
    if (processedBy) this.#report(processedBy, 'cascade.federation.statement.unsupported', `${statement} cannot be processed by nodes`);
  }

  #processedBy(node: ProcessedBy, variable: Identifier | null): void {
    if (node.status) {
      const other = node.block
        ? 'a block'
        : node.cardinality === 'one' || node.cardinality === 'exactlyOne'
          ? 'the value of one node'
          : null;
      if (other) this.#report(node.status, 'cascade.lang.syntax', `STATUS TO belongs to the array form of PROCESSED BY, not to ${other}`);
      this.#arrayForm(node);
    }
    const { nodes } = node;
    if (nodes !== 'all') {
      if (nodes.type === 'VariableRef') this.#visit(nodes);
      else this.#condition(nodes, null);
    }
    this.#visit(node.within);
    if (node.status) this.#result(node.status);
    const inside = [node.alias, variable, node.context].filter((name) => name !== null);
    this.#scope.block(inside, () => {
      this.#visit(node.until);
      this.#visit(node.block);
    });
    if (node.onError) this.#handler(node.onError);
  }
}

type Loop = AnyNode & { variable: Identifier; collection: AnyNode; until: AnyNode | null; body: Block };

/** The first name of `a.b.c`. */
function rootOf(chain: Expression): Expression {
  let at = chain;
  while (at.type === 'Member') at = at.object;
  return at;
}

/** The alias, else the last part of the type's or source's name; null without an alias for `@v` and for a text that is no identifier. */
export function resultVariable(node: Select): Identifier | null {
  return node.alias ?? lastPart(node.from);
}
function lastPart(ref: Ref): Identifier | null {
  if (ref.type === 'VariableRef') return null;
  if (ref.type === 'QualifiedName') return ref.parts.at(-1) ?? null;
  const name = ref.value.slice(ref.value.lastIndexOf('.') + 1);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? { type: 'Identifier', name, start: ref.start, end: ref.end } : null;
}
