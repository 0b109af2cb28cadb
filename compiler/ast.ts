/* oxlint-disable max-lines -- a list of types */
// The typed syntax tree of the rule language (language.md 2), as the parser makes it and the later phases read it.
// Every node carries its span: offsets into the text, end exclusive. What a later phase finds out is kept beside the tree, in Maps.

export interface Span {
  readonly start: number;
  readonly end: number;
}
interface Node<T extends string> extends Span {
  readonly type: T;
}

/** A plain identifier as written, with its place. */
export interface Identifier extends Node<'Identifier'> {
  readonly name: string;
}
/** `a.b.c`: parts in order; `text` is the parts joined with dots. */
export interface QualifiedName extends Node<'QualifiedName'> {
  readonly parts: readonly Identifier[];
  readonly text: string;
}
/** A property path on the left of a condition or in bindings, grouping, ordering. */
export type Path = QualifiedName;

/** Ref: a resource by name, by the value of a variable (`@v`), or, for topics and sources, by a String. */
export type Ref = QualifiedName | VariableRef | StringLiteral;
export interface VariableRef extends Node<'VariableRef'> {
  readonly variable: Identifier;
}

// ---------------------------------------------------------------- definitions
export type Definition = RuleDefinition | ProcedureDefinition;

export interface Package extends Node<'Package'> {
  readonly name: QualifiedName;
}
export type ImportKind = 'service' | 'procedure' | 'type' | 'topic' | 'source' | 'eventstream';
export interface Import extends Node<'Import'> {
  readonly kind: ImportKind;
  readonly target: QualifiedName | StringLiteral;
  readonly alias: Identifier | null;
}
interface DefinitionHead {
  readonly package: Package | null;
  readonly imports: readonly Import[];
  /** The comments before the first token, stripped of their markers (L5); '' when there are none. */
  readonly description: string;
  readonly body: readonly Statement[];
}
export interface RuleDefinition extends Node<'Rule'>, DefinitionHead {
  readonly name: Identifier;
  readonly version: { readonly text: string; readonly span: Span } | null;
  readonly where: Condition | null;
  readonly activationConstraint: StringLiteral | ObjectLiteral | null;
  readonly trigger: WhenClause | BeforeClause;
  readonly timeout: readonly Statement[] | null;
}
export interface ProcedureDefinition extends Node<'Procedure'>, DefinitionHead {
  readonly name: QualifiedName;
  readonly private: boolean;
  readonly access: 'global' | 'multiPartition' | 'stateless' | null;
  readonly hidden: boolean;
  readonly parameters: readonly Parameter[];
  readonly returns: ReturnType | null;
  readonly options: readonly Option[];
}
export interface Parameter extends Node<'Parameter'> {
  readonly name: Identifier;
  readonly typeRef: TypeRef | null;
  readonly array: boolean;
  readonly required: boolean;
  readonly default: Expression | null;
  readonly description: StringLiteral | null;
}
export interface TypeRef extends Node<'TypeRef'> {
  readonly name: QualifiedName;
  /** Decimal(2): scale; String(40): maximum length. */
  readonly argument: IntegerLiteral | null;
}
export interface ReturnType extends Node<'ReturnType'> {
  readonly typeRef: TypeRef;
  readonly cardinality: 'array' | 'sequence' | null;
}
/** `name = value` in a WITH list; `key` is the text of the Name or String. */
export interface Option extends Node<'Option'> {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: Expression;
}

// ---------------------------------------------------------------- triggers
export interface WhenClause extends Node<'When'> {
  readonly trigger: Trigger;
  readonly expect: { readonly kind: 'every' | 'within'; readonly interval: Expression } | null;
}
export type Trigger = SingleTrigger | MergeTrigger | CorrelationTrigger;
/** `A OR B …`, and a lone trigger with CONSTRAIN TO. */
export interface MergeTrigger extends Node<'MergeTrigger'> {
  readonly branches: readonly SingleTrigger[];
  readonly constraint: Condition | null;
}
export interface CorrelationTrigger extends Node<'CorrelationTrigger'> {
  readonly operator: 'before' | 'after' | 'and';
  readonly left: SingleTrigger | CorrelationTrigger;
  readonly right: SingleTrigger | CorrelationTrigger;
  readonly within: Expression;
  readonly constraint: Condition | null;
}
export type SingleTrigger = EventTrigger | TypeTrigger | TopicTrigger | SourceTrigger;
interface TriggerBinding {
  readonly alias: Identifier | null;
  readonly where: Condition | null;
}
/** EVENT OCCURS ON "/types/T/insert" */
export interface EventTrigger extends Node<'EventTrigger'>, TriggerBinding {
  readonly path: StringLiteral;
}
/** [INSERT|UPDATE|DELETE|REQUEST] OCCURS ON T; operation null: any of insert, update, delete. */
export interface TypeTrigger extends Node<'TypeTrigger'>, TriggerBinding {
  readonly operation: 'insert' | 'update' | 'delete' | 'request' | null;
  readonly target: QualifiedName;
}
/** PUBLISH OCCURS ON "/a/b" */
export interface TopicTrigger extends Node<'TopicTrigger'>, TriggerBinding {
  readonly topic: StringLiteral;
}
/** MESSAGE ARRIVES FROM S */
export interface SourceTrigger extends Node<'SourceTrigger'>, TriggerBinding {
  readonly source: QualifiedName;
}
export interface BeforeClause extends Node<'Before'>, TriggerBinding {
  readonly operation: 'insert' | 'update' | 'delete';
  readonly target: QualifiedName;
}

// ---------------------------------------------------------------- statements
export type Statement =
  | VariableDeclaration
  | Assignment
  | If
  | For
  | While
  | Try
  | Return
  | Publish
  | PublishRequest
  | Create
  | Drop
  | Recommendations
  | Recommend
  | ResourceStatement
  | ExpressionStatement;
/** What may stand as a statement and as a Value. */
export type ResourceStatement = Select | Insert | Upsert | Update | Delete | Execute | Filter | MapLoop;
export interface Block extends Node<'Block'> {
  readonly body: readonly Statement[];
}
export interface VariableDeclaration extends Node<'Var'> {
  readonly name: Identifier;
  readonly value: Value | null;
}
export interface Assignment extends Node<'Assign'> {
  readonly target: Target;
  readonly operator: '=' | '+=' | '-=' | '*=' | '/=' | '%=';
  readonly value: Value;
}
/** A name, or a chain of members and subscripts that ends in a name. */
export type Target = Name | Member | Subscript;
export interface If extends Node<'If'> {
  readonly condition: Value;
  readonly then: Block;
  readonly otherwise: If | Block | null;
}
export interface For extends Node<'For'> {
  readonly variable: Identifier;
  readonly collection: Value;
  readonly until: Expression | null;
  readonly body: Block;
}
export interface While extends Node<'While'> {
  readonly condition: Value;
  readonly body: Block;
}
export interface Try extends Node<'Try'> {
  readonly body: Block;
  readonly variable: Identifier;
  readonly handler: Block;
  readonly finalizer: Block | null;
}
export interface Return extends Node<'Return'> {
  readonly value: Value | null;
}
export interface ExpressionStatement extends Node<'ExpressionStatement'> {
  readonly expression: Expression;
}
export interface Filter extends Node<'Filter'> {
  readonly variable: Identifier;
  readonly collection: Value;
  readonly until: Expression | null;
  readonly body: Block;
}
export interface MapLoop extends Node<'Map'> {
  readonly variable: Identifier;
  readonly collection: Value;
  readonly until: Expression | null;
  readonly body: Block;
}
export interface Recommendations extends Node<'Recommendations'> {
  readonly variable: Identifier;
  readonly collection: Value;
  readonly result: Identifier;
  readonly until: Expression | null;
  readonly body: Block;
}
export interface Recommend extends Node<'Recommend'> {
  readonly candidate: Expression;
  readonly options: readonly Option[];
}

export interface Select extends Node<'Select'> {
  readonly cardinality: 'sequence' | 'array' | 'one' | 'exactlyOne' | null;
  /** null: none or `*`. */
  readonly bindings: readonly Binding[] | null;
  readonly fromSource: boolean;
  readonly from: Ref;
  readonly alias: Identifier | null;
  readonly options: readonly Option[];
  readonly where: Condition | null;
  readonly groupBy: readonly Path[];
  readonly orderBy: readonly OrderKey[];
  readonly processing: ProcessingBlock | null;
  readonly processedBy: ProcessedBy | null;
}
/** `p`, or `x = expr`; count(*) is a Call of `count` with the argument Star. */
export interface Binding extends Node<'Binding'> {
  readonly path: Path;
  readonly value: Expression | null;
}
export interface OrderKey extends Node<'OrderKey'> {
  readonly path: Path;
  readonly descending: boolean;
}
export interface ProcessingBlock extends Node<'ProcessingBlock'> {
  readonly until: Expression | null;
  readonly block: Block;
}
export interface Pair extends Node<'Pair'> {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: Value;
}
/** Pairs, or one expression that gives an Object or an Array. */
export type ValueSet = { readonly pairs: readonly Pair[] } | { readonly expression: Value };
export interface Insert extends Node<'Insert'> {
  readonly series: boolean;
  readonly target: Ref;
  readonly values: ValueSet;
  readonly options: readonly Option[];
  readonly processedBy: ProcessedBy | null;
}
export interface Upsert extends Node<'Upsert'> {
  readonly target: Ref;
  readonly values: ValueSet;
  readonly options: readonly Option[];
  readonly processedBy: ProcessedBy | null;
}
export interface Update extends Node<'Update'> {
  readonly target: Ref;
  readonly values: ValueSet;
  readonly options: readonly Option[];
  readonly where: Condition;
  readonly onError: ErrorHandler | null;
  readonly processedBy: ProcessedBy | null;
}
export interface Delete extends Node<'Delete'> {
  readonly target: Ref;
  readonly options: readonly Option[];
  readonly where: Condition;
  readonly processedBy: ProcessedBy | null;
}
export interface ErrorHandler extends Node<'ErrorHandler'> {
  readonly variable: Identifier;
  readonly block: Block;
}
export interface Publish extends Node<'Publish'> {
  readonly value: Expression;
  readonly kind: 'topic' | 'serviceEvent' | 'source';
  readonly target: Ref;
  readonly schedule: Expression | null;
  readonly using: Expression | null;
  readonly processedBy: ProcessedBy | null;
}
export interface PublishRequest extends Node<'PublishRequest'> {
  readonly target: Ref;
  readonly value: Expression;
  readonly processedBy: ProcessedBy | null;
}
export interface Execute extends Node<'Execute'> {
  readonly async: boolean;
  /** null: `EXECUTE *`, then `where` is set. */
  readonly procedure: QualifiedName | null;
  readonly arguments: Arguments;
  readonly where: Condition | null;
  readonly options: readonly Option[];
  readonly alias: Identifier | null;
  readonly processing: ProcessingBlock | null;
  readonly processedBy: ProcessedBy | null;
}
export type DefinitionKind = 'rule' | 'procedure' | 'type' | 'topic' | 'source' | 'node';
export interface Create extends Node<'Create'> {
  readonly verb: 'create' | 'alter';
  readonly kind: DefinitionKind;
  readonly value: Expression;
  readonly options: readonly Option[];
  readonly processedBy: ProcessedBy | null;
}
export interface Drop extends Node<'Drop'> {
  readonly kind: DefinitionKind;
  readonly target: Ref;
  readonly processedBy: ProcessedBy | null;
}
export interface ProcessedBy extends Node<'ProcessedBy'> {
  readonly alias: Identifier | null;
  readonly cardinality: 'one' | 'atLeastOne' | 'exactlyOne' | null;
  readonly nodes: 'all' | VariableRef | Condition;
  readonly status: Identifier | null;
  readonly context: Identifier | null;
  readonly within: Expression | null;
  readonly until: Expression | null;
  readonly block: Block | null;
  readonly onError: ErrorHandler | null;
}

// ---------------------------------------------------------------- expressions
/** Value of the grammar: an expression, or a resource statement in a place that allows one. */
export type Value = Expression | ResourceStatement;
export type Expression =
  | IntegerLiteral
  | RealLiteral
  | StringLiteral
  | BooleanLiteral
  | NullLiteral
  | IntervalLiteral
  | ArrayLiteral
  | ObjectLiteral
  | Name
  | Member
  | Subscript
  | Call
  | MethodCall
  | Unary
  | Binary
  | Logical
  | Ternary
  | Postfix
  | Lambda
  | Star;

export interface IntegerLiteral extends Node<'Integer'> {
  /** −9223372036854775808 only where the minus sign stood before it; then the literal holds the sign. */
  readonly value: bigint;
}
export interface RealLiteral extends Node<'Real'> {
  readonly value: number;
}
export interface StringLiteral extends Node<'String'> {
  readonly value: string;
}
export interface BooleanLiteral extends Node<'Boolean'> {
  readonly value: boolean;
}
export interface NullLiteral extends Node<'Null'> {}
export interface IntervalLiteral extends Node<'Interval'> {
  readonly milliseconds: bigint;
}
export interface ArrayLiteral extends Node<'Array'> {
  readonly elements: readonly Expression[];
}
export interface ObjectLiteral extends Node<'Object'> {
  readonly members: readonly ObjectMember[];
}
export interface ObjectMember extends Node<'ObjectMember'> {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: Expression;
}
export interface Name extends Node<'Name'> {
  readonly name: string;
}
export interface Member extends Node<'Member'> {
  readonly object: Expression;
  readonly property: string;
  readonly propertySpan: Span;
}
export interface Subscript extends Node<'Subscript'> {
  readonly object: Expression;
  readonly index: Expression;
}
/** `f(…)`, `Svc.f(…)`, `a.b.f(…)`: a call whose callee is a chain of names. Whether the first name is a variable (then it is a method
 * call on `parts[0..n-1]`) is the checker's business (language.md 3.2). */
export interface Call extends Node<'Call'> {
  readonly callee: QualifiedName;
  readonly arguments: Arguments;
}
/** `.f(…)` on anything that is not a chain of names: a literal, a call, a subscript, parentheses. */
export interface MethodCall extends Node<'MethodCall'> {
  readonly object: Expression;
  readonly method: Identifier;
  readonly arguments: Arguments;
}
export interface Arguments extends Node<'Arguments'> {
  readonly positional: readonly Value[];
  readonly named: readonly NamedArgument[];
}
export interface NamedArgument extends Node<'NamedArgument'> {
  readonly name: Identifier;
  readonly value: Value;
}
/** `*` as the argument of count(*) in a binding; nowhere else. */
export interface Star extends Node<'Star'> {}
export interface Unary extends Node<'Unary'> {
  /** `!` and the word NOT differ in precedence only. */
  readonly operator: '+' | '-' | '!';
  readonly operand: Expression;
}
export type BinaryOperator =
  | '**'
  | '*'
  | '/'
  | '%'
  | '+'
  | '-'
  | '<'
  | '<='
  | '>'
  | '>='
  | '=='
  | '!='
  | 'in'
  | 'regex'
  | 'geonear'
  | 'geointersects'
  | 'geowithin';
export interface Binary extends Node<'Binary'> {
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: Expression;
  readonly right: Expression;
}
export interface Logical extends Node<'Logical'> {
  readonly operator: '&&' | '||';
  readonly left: Expression;
  readonly right: Expression;
}
export interface Ternary extends Node<'Ternary'> {
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}
export interface Postfix extends Node<'Postfix'> {
  readonly operator: '++' | '--';
  readonly target: Target;
}
export interface Lambda extends Node<'Lambda'> {
  readonly parameters: readonly Identifier[];
  readonly body: Expression | Block;
}

// ---------------------------------------------------------------- conditions
/** WHERE, CONSTRAIN TO, RULE WHERE, EXECUTE * WHERE, PROCESSED BY (language.md 2.5). */
export type Condition = LogicalCondition | NotCondition | Comparison | QueryObject;
export interface LogicalCondition extends Node<'LogicalCondition'> {
  readonly operator: 'and' | 'or';
  readonly terms: readonly Condition[];
}
export interface NotCondition extends Node<'NotCondition'> {
  readonly operand: Condition;
}
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'regex' | 'geonear' | 'geointersects' | 'geowithin';
/** In a query the left side is a path (a Name or Member chain); elsewhere it may be any expression (W4). The checker tells. */
export interface Comparison extends Node<'Comparison'> {
  readonly operator: ComparisonOperator;
  readonly left: Expression;
  readonly right: Expression;
}
/** An expression that stands alone: a where-object, or a bare path (`path == true`) (W5). */
export interface QueryObject extends Node<'QueryObject'> {
  readonly expression: Expression;
}
