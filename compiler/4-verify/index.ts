// Fourth phase: the emitted text is parsed again and must consist of nothing but what the emitter may write (design.md 9). It is an
// allow-list: a node, a name or a position that is not mentioned here is refused. What does not verify does not load.
import { parse } from 'acorn';
import type * as es from 'estree';
import { BUILTIN_FORMS, RUNTIME_NAMES } from '../runtime-names.ts';
import { FunctionVerifier } from './functions.ts';
import { refuse } from './refuse.ts';

export { Refused } from './refuse.ts';

const RUNTIME: ReadonlySet<string> = new Set(RUNTIME_NAMES);
const FORMS: ReadonlySet<string> = new Set(BUILTIN_FORMS);
const CONSTANT_NAME = /^(?:\$[a-z][A-Za-z0-9]*|[bmno]_\w+)$/;
const ENTRY_NAME = /^(?:main|timeout|asked\d+)$/;

/**
 * The form: `(function ($rt) { 'use strict'; const …; function main($, …) {…} [function timeout…] [function asked0…] return main; })`.
 * @throws Refused with what stands where it may not, or a SyntaxError
 */
export function verify(text: string): void {
  const onComment = (_isBlock: boolean, _text: string, start: number): void => refuse({ start }, 'a comment');
  const program = parse(text, { ecmaVersion: 2022, sourceType: 'script', onComment }) as unknown as es.Program;
  const [only, ...others] = program.body;
  if (!only || others.length > 0 || only.type !== 'ExpressionStatement') return refuse(program, 'a module is one expression');
  const factory = only.expression;
  if (factory.type !== 'FunctionExpression' || factory.generator || factory.async || factory.id)
    refuse(factory, 'a module is a plain function');
  const [parameter, ...more] = factory.params;
  if (parameter?.type !== 'Identifier' || parameter.name !== '$rt' || more.length > 0) refuse(factory, 'a module takes $rt');
  verifyModule(factory.body.body);
}

function verifyModule([directive, ...statements]: es.Statement[]): void {
  if (!isLiteral(directive, 'use strict')) refuse(directive, "a module begins with 'use strict'");
  const constants = new Set<string>();
  const functions = new Map<string, es.FunctionDeclaration>();
  const result = statements.pop();
  for (const statement of statements) {
    if (statement.type === 'VariableDeclaration' && functions.size === 0) verifyConstant(statement, constants);
    else if (statement.type === 'FunctionDeclaration') addFunction(statement, functions);
    else refuse(statement, 'a module has constants, then functions');
  }
  for (const declaration of functions.values()) new FunctionVerifier(constants).declared(declaration);
  verifyResult(result, functions);
}

/** `const $add = $rt.add;`, `const b_trim = $rt.builtin('trim');` or `const $c0 = $rt.real(5);` */
function verifyConstant(node: es.VariableDeclaration, constants: Set<string>): void {
  const [declarator, ...others] = node.declarations;
  if (node.kind !== 'const' || !declarator || others.length > 0 || declarator.id.type !== 'Identifier')
    refuse(node, 'one constant a statement');
  const { name } = declarator.id;
  if (!CONSTANT_NAME.test(name) || name === '$rt' || constants.has(name)) refuse(declarator, `a constant called ${name}`);
  const { init } = declarator;
  if (init?.type === 'CallExpression') {
    const [argument, ...more] = init.arguments;
    const from = runtimeName(init.callee);
    if (more.length > 0 || init.optional || from === null) refuse(init, 'a constant is made by one call of $rt');
    const named = FORMS.has(from) && argument?.type === 'Literal' && typeof argument.value === 'string';
    if (!named && !(from === 'real' && isNumber(argument))) refuse(init, `$rt.${from} of that`);
  } else {
    const from = runtimeName(init);
    if (from === null || !RUNTIME.has(from)) refuse(declarator, 'a constant is a listed name of $rt');
  }
  constants.add(name);
}

/** The name of `$rt.<name>`, else null. */
function runtimeName(node: es.Node | null | undefined): string | null {
  if (node?.type !== 'MemberExpression' || node.computed || node.optional) return null;
  if (node.object.type !== 'Identifier' || node.object.name !== '$rt' || node.property.type !== 'Identifier') return null;
  return node.property.name;
}

function isNumber(node: es.Node | undefined): boolean {
  if (node?.type === 'UnaryExpression') return node.operator === '-' && isNumber(node.argument);
  return node?.type === 'Literal' && typeof node.value === 'number';
}

function isLiteral(node: es.Statement | undefined, value: string): boolean {
  return node?.type === 'ExpressionStatement' && node.expression.type === 'Literal' && node.expression.value === value;
}

function addFunction(node: es.FunctionDeclaration, functions: Map<string, es.FunctionDeclaration>): void {
  const { name } = node.id;
  const isFirst = functions.size === 0;
  if (!ENTRY_NAME.test(name) || functions.has(name) || isFirst !== (name === 'main'))
    refuse(node, 'a module has main, and perhaps timeout and what its conditions ask for');
  functions.set(name, node);
}

/** `return main;` or `return [main, timeout, …];` */
function verifyResult(node: es.Statement | undefined, functions: ReadonlyMap<string, unknown>): void {
  if (node?.type !== 'ReturnStatement') return refuse(node, 'a module returns its functions');
  const returned = node.argument?.type === 'ArrayExpression' ? node.argument.elements : [node.argument];
  const names = returned.map((item) => (item?.type === 'Identifier' ? item.name : ''));
  const all = [...functions.keys()];
  if (names.length !== all.length || names.length === 0 || names.some((name, index) => name !== all[index]))
    refuse(node, 'a module returns its functions');
}
