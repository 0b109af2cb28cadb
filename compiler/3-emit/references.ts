// What statements name and carry: resources, options, value sets.
import type * as es from 'estree';
import type { Drop, Option, Ref, Span, Value, ValueSet, VariableRef } from '../ast.ts';
import * as b from './build.ts';
import { type ModuleWriter, readVariable } from './context.ts';

/** The name of a type or system resource; `@v` is the text in a variable (language.md S9). */
export function emitType(ref: Ref, module: ModuleWriter): es.Expression {
  return emitReference(ref, (name) => b.literal(module.model.names.type(name)), module);
}
export function emitSource(ref: Ref, module: ModuleWriter): es.Expression {
  return emitReference(ref, (name) => b.literal(module.model.names.source(name)), module);
}
/** Topics are texts, so they are lifted like other literals. */
export function emitTopic(ref: Ref, module: ModuleWriter): es.Expression {
  return emitReference(ref, (name) => module.string(module.model.names.topic(name)), module);
}
export function emitServiceEvent(ref: Ref, module: ModuleWriter): es.Expression {
  return emitReference(ref, (name) => module.string(module.model.names.serviceEvent(name)), module);
}
/** What DROP names means what the same name means elsewhere in the text (language.md N7); of a procedure, all that it may mean. */
export function emitDropped({ kind, target }: Drop, module: ModuleWriter): es.Expression {
  const { names } = module.model;
  if (kind === 'type') return emitType(target, module);
  if (kind === 'source') return emitSource(target, module);
  if (kind === 'procedure') {
    const meant = (name: string): string | readonly string[] => {
      const candidates = names.procedures(name);
      return candidates.length === 1 ? (candidates[0] as string) : candidates;
    };
    return emitReference(target, (name) => b.data(meant(name)), module);
  }
  const full = (name: string): string => (kind === 'topic' ? names.topic(name) : name);
  return emitReference(target, (name) => b.literal(full(name)), module);
}

/** The text in the variable of `@v`. */
export function emitReferenceText(ref: VariableRef, module: ModuleWriter): es.Expression {
  return emitReference(ref, (name) => b.literal(name), module);
}

function emitReference(ref: Ref, named: (name: string) => es.Expression, module: ModuleWriter): es.Expression {
  if (ref.type === 'String') return named(ref.value);
  if (ref.type === 'QualifiedName') return named(ref.text);
  const { name } = ref.variable;
  return module.helper('reference', ref, readVariable(ref.variable, name, module), b.literal(name));
}

export function emitOptions(options: readonly Option[], module: ModuleWriter): es.Expression {
  return b.object(options.map((option) => [option.key, module.value(option.value)] as const));
}

/** The option of that name in any case, or null. */
export function optionValue(options: readonly Option[], name: string): Value | null {
  return options.findLast((option) => option.key.toLowerCase() === name.toLowerCase())?.value ?? null;
}

/** Pairs as an object; one expression must give an Object or an Array (language.md I5). */
export function emitValueSet(values: ValueSet, statement: string, at: Span, module: ModuleWriter): es.Expression {
  if ('pairs' in values) return b.object(values.pairs.map((pair) => [pair.key, module.value(pair.value)] as const));
  return module.helper('valueSet', at, module.value(values.expression), b.literal(statement));
}
