// A where-object to a checked condition (resources-and-api.md 3.1 to 3.4): operators allowed, constants converted, limits kept.
import { getOwn, isObject, type ObjectValue, typeOf, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../errors/index.ts';
import type { TypeDefinition } from '../types/index.ts';
import type { GeoOperand } from '../../stdlib/geo/index.ts';
import { constantAt, isForbidden, operatorNamed, type Place } from './operators.ts';
import { dataScope, instanceScope, referenceScope, type Scope, structureScope } from './path.ts';
import { substitute } from './substitutions.ts';
import type { Condition, ConditionContext, ConditionPath, NearTest, Predicate, Test } from './types.ts';

/** The place of a condition as a whole in refusals; what is below it is told by dotted names. */
const ROOT = 'where';

/** The limits of resources-and-api.md 3.2; what exceeds one is told by its name. */
const LIMITS = { depth: 20, nodes: 1_000, listElements: 10_000, regexLength: 1_000, regexSize: 1_000_000 } as const;

/**
 * @param where an Object as the REST API takes it; from the language `WHERE` becomes one, too (language.md W11)
 * @param type whose instances are looked at; null where nothing is declared
 * @throws an apiError `cascade.query.…`
 */
export function parseWhere(where: Value, type: TypeDefinition | null, context: ConditionContext): Predicate {
  const substituted = substitute(where, context);
  const parser = new Parser(type, false, context.patterns);
  const condition = parser.where(substituted, instanceScope(type), 1, true, ROOT);
  return { condition, type, near: parser.near, hasRegex: parser.hasRegex };
}

/**
 * Refuses a condition that is too large, before anything is done for its constants. It counts no more than the parser does.
 * @throws cascade.query.too.expensive
 */
export function requireModest(where: Value): void {
  let [nodes, elements] = [0, 0];
  const enter = (depth: number): void => {
    if (depth > LIMITS.depth) throw tooExpensive('depth');
  };
  const count = (): void => {
    if (++nodes > LIMITS.nodes) throw tooExpensive('nodes');
  };
  const visitWhere = (terms: Value, depth: number): void => {
    if (!isObject(terms)) return;
    enter(depth);
    for (const name of Object.keys(terms)) {
      count();
      const value = getOwn(terms, name);
      if (!JOINS.has(name)) visitTests(value, depth);
      else if (Array.isArray(value)) for (const term of value) visitWhere(term, depth + 1);
    }
  };
  const visitTests = (tests: Value, depth: number): void => {
    if (!isOperators(tests)) return;
    enter(depth);
    for (const name of Object.keys(tests)) {
      if (name !== '$options') count();
      const operand = getOwn(tests, name);
      if (name === '$not') visitTests(operand, depth + 1);
      else if (name === '$elemMatch' && isOperators(operand) && !Object.keys(operand).some((one) => JOINS.has(one)))
        visitTests(operand, depth + 1);
      else if (name === '$elemMatch') visitWhere(operand, depth + 1);
      else if (LISTS.has(name) && Array.isArray(operand)) {
        elements += operand.length;
        if (elements > LIMITS.listElements) throw tooExpensive('listElements');
      }
    }
  };
  visitWhere(where, 1);
}

const JOINS: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);
const LISTS: ReadonlySet<string> = new Set(['$in', '$nin', '$all']);
const tooExpensive = (limit: keyof typeof LIMITS) => apiError('cascade.query.too.expensive', limit);

/** The same for what a scope describes, which is in memory only. */
export function parseWhereIn(where: Value, scope: Scope, context: ConditionContext): Predicate {
  const parser = new Parser(null, true, context.patterns);
  const condition = parser.where(substitute(where, context), scope, 1, true, ROOT);
  return { condition, type: null, near: null, hasRegex: parser.hasRegex };
}

/** A test of one operator, as `path operator operand` of the language has it (language.md W6 to W10). */
export function parseTest(path: ConditionPath, operator: string, operand: Value): Test {
  return new Parser(null, true).member(path, { [operator]: operand }, dataScope, 1, true)[0] as Test;
}

class Parser {
  near: Predicate['near'] = null;
  hasRegex = false;
  #nodes = 0;
  #elements = 0;
  readonly #patterns: { turns: number };
  readonly #type: TypeDefinition | null;
  readonly #inMemory: boolean;

  /** @param inMemory no store is asked, so `$near` needs no index */
  constructor(type: TypeDefinition | null, inMemory = false, patterns = { turns: 0 }) {
    this.#patterns = patterns;
    this.#type = type;
    this.#inMemory = inMemory;
  }

  where(where: Value, scope: Scope, depth: number, nearAllowed: boolean, at: string): Condition {
    if (!isObject(where)) throw apiError('cascade.query.condition.type', typeOf(where));
    this.#enter(depth);
    const terms = Object.keys(where).map((name): Condition => {
      this.#countNode();
      const value = getOwn(where, name);
      if (name === '$and' || name === '$or' || name === '$nor') return this.#joined(name, value, scope, depth, nearAllowed, at);
      if (name.startsWith('$')) throw refusal(name, at);
      const path = scope(name);
      return { op: 'property', path, tests: this.member(path, value, scope, depth, nearAllowed) };
    });
    return terms.length === 1 ? (terms[0] as Condition) : { op: 'and', terms };
  }

  #joined(name: '$and' | '$or' | '$nor', value: Value, scope: Scope, depth: number, nearAllowed: boolean, at: string): Condition {
    if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) throw apiError('cascade.query.operand.invalid', at, name);
    const terms = value.map((term, i) => this.where(term, scope, depth + 1, nearAllowed && name === '$and', `${at}.${name}.${i}`));
    return { op: name.slice(1) as 'and' | 'or' | 'nor', terms };
  }

  /** The tests of `path: value`. */
  member(path: ConditionPath, value: Value, scope: Scope, depth: number, nearAllowed: boolean): Test[] {
    if (isOperators(value)) return this.#tests(value, path, scope, depth, nearAllowed, false);
    return [{ op: 'eq', value: constantAt(value, this.#place(path, '$eq', scope, depth, false, false)) }];
  }

  #tests(operators: ObjectValue, path: ConditionPath, scope: Scope, depth: number, nearAllowed: boolean, element: boolean): Test[] {
    this.#enter(depth);
    const names = Object.keys(operators);
    const stranger = names.find((name) => !name.startsWith('$'));
    if (stranger !== undefined)
      throw apiError('cascade.query.operator.mixed', names.find((name) => name.startsWith('$')) ?? stranger, path.text);
    const tests: Test[] = [];
    for (const name of names) {
      this.#countNode();
      if (name === '$options' && names.includes('$regex')) continue;
      const parse = operatorNamed(name);
      if (!parse) throw refusal(name, path.text);
      tests.push(parse(getOwn(operators, name), this.#place(path, name, scope, depth, nearAllowed, element), operators));
    }
    return tests;
  }

  #place(path: ConditionPath, operator: string, scope: Scope, depth: number, nearAllowed: boolean, element: boolean): Place {
    const invalid = (): never => {
      throw apiError('cascade.query.operand.invalid', path.text, operator);
    };
    return {
      path,
      kind: path.kind,
      element,
      invalid,
      countElements: (count) => {
        this.#elements += count;
        if (this.#elements > LIMITS.listElements) throw tooExpensive('listElements');
      },
      checkPatternLength: (length) => {
        if (length > LIMITS.regexLength) throw tooExpensive('regexLength');
        this.hasRegex = true;
      },
      countPatternTurns: (turns) => {
        this.#patterns.turns += turns;
        if (this.#patterns.turns > LIMITS.regexSize) throw tooExpensive('regexSize');
      },
      tests: (operators) => (isObject(operators) ? this.#tests(operators, path, scope, depth + 1, false, element) : invalid()),
      elementTest: (operand) => this.#elementTest(operand, path, scope, depth, invalid),
      near: (operand) => this.#nearTest(operand, path, operator, nearAllowed && !element),
    };
  }

  #elementTest(operand: Value, path: ConditionPath, scope: Scope, depth: number, invalid: () => never): Test {
    if (!isObject(operand)) return invalid();
    if (isOperators(operand) && !Object.keys(operand).some((name) => JOINS.has(name)))
      return { op: 'element', tests: this.#tests(operand, path, scope, depth + 1, false, true) };
    const inner = elementScope(path);
    return inner ? { op: 'elementWhere', where: this.where(operand, inner, depth + 1, false, path.text) } : invalid();
  }

  #nearTest({ point, minDistance, maxDistance }: GeoOperand, path: ConditionPath, operator: string, isAllowed: boolean): Test {
    const test: NearTest = { op: 'near', operator, point, minDistance, maxDistance };
    if (this.#inMemory) return test;
    if (!isAllowed || this.near) throw apiError('cascade.query.operand.invalid', path.text, operator);
    if (!hasGeoIndex(this.#type, path.text)) throw apiError('cascade.query.geo.index.missing', path.text);
    this.near = { path, test };
    return test;
  }

  #enter(depth: number): void {
    if (depth > LIMITS.depth) throw tooExpensive('depth');
  }

  #countNode(): void {
    if (++this.#nodes > LIMITS.nodes) throw tooExpensive('nodes');
  }
}

/** What members the elements at a path have; null where they have none. */
function elementScope({ kind, structure }: ConditionPath): Scope | null {
  if (kind === 'ResourceReference') return referenceScope;
  if (kind !== 'Object' && kind !== 'Json') return null;
  const members = structure?.();
  return members ? structureScope(members) : dataScope;
}

function hasGeoIndex(type: TypeDefinition | null, path: string): boolean {
  const declared = type?.properties.get(path);
  if (declared?.base === 'GeoJSON' && declared.indexed) return true;
  return type?.indexes.some(({ keys }) => keys.some((key) => key.direction === 'geo' && key.path === path)) ?? false;
}

const isOperators = (value: Value): value is ObjectValue => isObject(value) && Object.keys(value).some((name) => name.startsWith('$'));

const refusal = (name: string, path: string) =>
  apiError(isForbidden(name) ? 'cascade.query.operator.forbidden' : 'cascade.query.operator.unknown', name, path);
