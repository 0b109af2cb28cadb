// The head of a procedure: parameters, types, options (language.md 3.4).
import type { Parameter, ProcedureDefinition, TypeRef } from '../ast.ts';
import type { CompiledParameter, NamedType } from '../types.ts';
import { type Constant, constantText, fold, toInnerTree } from './constants.ts';
import { didYouMean } from './hints.ts';
import type { Names, ProcedureFacts } from './model.ts';
import type { Report } from './report.ts';

const STANDARD_TYPES = [
  'String',
  'Integer',
  'Real',
  'Decimal',
  'Currency',
  'Boolean',
  'DateTime',
  'GeoJSON',
  'Object',
  'ResourceReference',
  'Any',
];
const CANONICAL: ReadonlyMap<string, string> = new Map(STANDARD_TYPES.map((name) => [name.toLowerCase(), name]));
/** The options of a procedure with what each takes (language.md P8). */
const OPTIONS: Readonly<Record<string, readonly [what: string, takes: (value: Constant) => boolean]>> = {
  properties: ['an Object', (value) => typeof value === 'object' && value !== null && 'object' in value],
  profiles: ['an array of names', (value) => Array.isArray(value) && value.every((name) => typeof name === 'string')],
  ars_public: ['true or false', (value) => typeof value === 'boolean'],
  ars_group: ['a String', (value) => typeof value === 'string'],
  ars_dependentResource: ['a String', (value) => typeof value === 'string'],
  ars_relationships: ['an array', Array.isArray],
  updateInterface: ['true or false', (value) => typeof value === 'boolean'],
};

/** For names that are the types of parameters called like a type: who writes the type first means the name (`String x`). */
export const turnedParameters = ({ parameters }: ProcedureDefinition): ReadonlyMap<string, string> =>
  new Map(
    parameters.flatMap(({ name, typeRef }) => {
      const meant = typeRef?.name.text;
      const isTurned = STANDARD_TYPES.includes(name.name) && meant !== undefined && !CANONICAL.has(meant.toLowerCase());
      return isTurned ? [[meant, `the type of a parameter follows its name: ${meant} ${name.name}`] as const] : [];
    }),
  );

/** As in a type's properties (resources-and-api.md 4.1). */
const MOST_DIGITS = 30n;

export function checkHeader(node: ProcedureDefinition, prefix: string | null, names: Names, report: Report): ProcedureFacts {
  const parts = node.name.parts.map((part) => part.name);
  const written = node.name.text;
  const name = prefix === null || written.startsWith(`${prefix}.`) ? written : `${prefix}.${written}`;
  const inService = (written.startsWith(`${prefix}.`) ? written.slice((prefix ?? '').length + 1).split('.') : parts).length > 1;
  if (node.private && !inService) report(node.name, 'cascade.service.state.modifier', 'PRIVATE needs a procedure of a service');
  const returnType = node.returns && namedType(node.returns.typeRef, names);
  if (returnType && node.returns?.typeRef.argument) checkArgument(returnType.type, node.returns.typeRef.argument, report);
  return {
    name,
    serviceName: inService ? name.slice(0, name.lastIndexOf('.')) : null,
    parameters: checkParameters(node, names, report),
    options: checkOptions(node, report),
    returnType,
  };
}

function checkParameters(node: ProcedureDefinition, names: Names, report: Report): CompiledParameter[] {
  const seen = new Set<string>();
  const typed = node.parameters.filter((parameter) => parameter.typeRef !== null).length;
  const untyped = node.parameters.find((parameter) => parameter.typeRef === null);
  if (untyped && typed > 0) report(untyped, 'cascade.lang.parameter.mixed', 'either all parameters have a type or none has');
  return node.parameters.map((parameter) => {
    const { name } = parameter.name;
    if (seen.has(name)) report(parameter.name, 'cascade.lang.variable.redeclared', `'${name}' is a parameter already`);
    seen.add(name);
    if (parameter.required && parameter.default)
      report(parameter, 'cascade.lang.parameter.required.default', `'${name}' is REQUIRED, so a DEFAULT is never used`);
    return compiledParameter(parameter, names, report);
  });
}

function compiledParameter(parameter: Parameter, names: Names, report: Report): CompiledParameter {
  const { type, written } = parameter.typeRef ? namedType(parameter.typeRef, names) : { type: null };
  const argument = parameter.typeRef?.argument;
  const limit = argument ? Number(argument.value) : undefined;
  if (argument && type !== null) checkArgument(type, argument, report);
  const fallback = parameter.default ? constantText(parameter.default) : undefined;
  if (parameter.default && fallback === undefined) report(parameter.default, 'cascade.lang.syntax', 'DEFAULT needs a constant');
  return {
    name: parameter.name.name,
    type,
    ...(written !== undefined && { written }),
    array: parameter.array,
    required: parameter.required,
    hasDefault: parameter.default !== null,
    ...(fallback !== undefined && { default: fallback }),
    description: parameter.description?.value ?? null,
    ...(limit !== undefined && (type === 'String' ? { maxLength: limit } : { scale: limit })),
  };
}

/** `Decimal(2)`, `Currency(2)`: digits; `String(40)`: length. The other standard types take none (language.md 2.1). */
function checkArgument(type: string, argument: NonNullable<TypeRef['argument']>, report: Report): void {
  const isScaled = type === 'Decimal' || type === 'Currency';
  if (isScaled && argument.value > MOST_DIGITS)
    report(argument, 'cascade.lang.syntax', `${type} has at most ${MOST_DIGITS} digits behind the point`);
  else if (!isScaled && type !== 'String' && STANDARD_TYPES.includes(type))
    report(argument, 'cascade.lang.syntax', `${type} takes no number in parentheses`);
}

/** A standard type in its own spelling, else the type's full name. A spelling of its own may be that of a type of the namespace (language.md P1). */
function namedType({ name: { text } }: TypeRef, names: Names): NamedType {
  const standard = CANONICAL.get(text.toLowerCase());
  if (standard === undefined) return { type: names.type(text) };
  return standard === text ? { type: standard } : { type: standard, written: names.type(text) };
}

function checkOptions(node: ProcedureDefinition, report: Report): Record<string, string> {
  const options: Record<string, string> = {};
  for (const option of node.options) {
    const [what, takes] = (Object.hasOwn(OPTIONS, option.key) && OPTIONS[option.key]) || [];
    if (!takes) {
      const hint = didYouMean(option.key, Object.keys(OPTIONS));
      report(option.keySpan, 'cascade.lang.option.unknown', `'${option.key}' is no option of a procedure`, hint);
      continue;
    }
    const value = fold(option.value);
    if (value === undefined) report(option.value, 'cascade.lang.syntax', `the option ${option.key} needs a constant`);
    else if (value !== null && !takes(value)) report(option.value, 'cascade.lang.syntax', `the option ${option.key} takes ${what}`);
    else options[option.key] = JSON.stringify(toInnerTree(value));
  }
  return options;
}
