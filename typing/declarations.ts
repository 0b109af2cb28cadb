// The TypeScript that stands for the language's values: an interface a kind, told apart by a member that no program can name. Nullness is
// left out (`strictNullChecks` is off), and whatever is not known is `any`, which TypeScript never complains of.
import type { PropertyShape, TypeEnvironment, TypeShape } from './type-environment.ts';
import { isScalar, SCALARS } from './kinds.ts';

/** How the kinds are called in TypeScript: no name of a program begins so. */
export const tsScalar = (name: string): string => `$${name}`;
export const tsInstance = (type: string): string => `T_${type.replaceAll('.', '$')}`;

const SIMPLE = ['ResourceReference', 'RegExp', 'Matcher', 'Binary', 'Xml', 'Function'];
const CORE = `
interface Array<T> { [n: number]: T; length: number }
interface Boolean {} interface CallableFunction {} interface Function {} interface IArguments {} interface NewableFunction {}
interface Number {} interface Object {} interface RegExp {} interface String {}
${[...SCALARS, ...SIMPLE].map((name) => `interface $${name} { $kind: '${name}' }`).join('\n')}
interface $List<T> { $kind: 'List'; $inner: T }
interface $Sequence<T> { $kind: 'Sequence'; $inner: T }
interface $Event<T> { $kind: 'Event'; uuid: $String; path: $String; value: T; newValue: T; createdAt: $DateTime; topic: $String;
  redelivered: $Boolean; deliveryCount: $Integer; properties: any; ars_namespace: $String }
declare const $any: any;
declare function $is<T>(...values: any[]): T;
declare function $run(...values: any[]): void;
declare function $same<T>(value: T): T;
declare function $lambda(body: (...values: any[]) => any): $Function;
declare function $element<T>(value: $List<T> | $Sequence<T>): T; declare function $element(value: any): any;
declare function $at<T>(value: $List<T>, index: any): T;
declare function $at(value: $String, index: any): $String; declare function $at(value: any, index: any): any;
type $Any<T> = 0 extends 1 & T ? true : false;
type $Both<A, B, I> = [A, B] extends [$Integer, $Integer] ? I
  : [A, B] extends [$Integer | $Real, $Integer | $Real] ? [A] extends [$Real] ? $Real : [B] extends [$Real] ? $Real : any
  : [A, B] extends [$Currency, $Integer | $Real | $Decimal | $Currency] ? $Currency
  : [A, B] extends [$Integer | $Real | $Decimal, $Currency] ? $Currency
  : [A, B] extends [$Decimal, $Integer | $Real | $Decimal] ? $Decimal
  : [A, B] extends [$Integer | $Real, $Decimal] ? $Decimal : any;
type $Result<O, A, B> = $Any<A> extends true ? any : $Any<B> extends true ? any
  : O extends '+' ? [A] extends [$String] ? [B] extends [$Decimal | $Currency] ? any : $String
    : [B] extends [$String] ? [A] extends [$Integer | $Real | $Boolean | $DateTime] ? $String : any
    : [A, B] extends [$DateTime, $Integer] ? $DateTime : [A, B] extends [$Integer, $DateTime] ? $DateTime : $Both<A, B, $Integer>
  : O extends '-' ? [A, B] extends [$DateTime, $DateTime] ? $Integer : [A, B] extends [$DateTime, $Integer] ? $DateTime : $Both<A, B, $Integer>
  : O extends '/' | '**' ? $Both<A, B, any> : $Both<A, B, $Integer>;
declare function $compute<O, A, B>(operator: O, a: A, b: B): $Result<O, A, B>;
`;

/** All that the texts of a namespace have in common. */
export function declarationsOf({ types }: TypeEnvironment): string {
  return CORE + [...types.values()].map((type) => interfaceOf(type, types)).join('\n');
}

function interfaceOf(type: TypeShape, types: TypeEnvironment['types']): string {
  const members = [...type.properties].map(([name, property]) => `${JSON.stringify(name)}: ${propertyType(property, types)};`);
  return `interface ${tsInstance(type.name)} { $kind: 'Object'; $type: ${JSON.stringify(type.name)}; ${members.join(' ')} }`;
}

export function propertyType({ type, multi }: Pick<PropertyShape, 'type' | 'multi'>, types: TypeEnvironment['types']): string {
  const one = isScalar(type) || type === 'ResourceReference' ? tsScalar(type) : types.has(type) ? tsInstance(type) : 'any';
  return multi ? `$List<${one}>` : one;
}
