// `o.p` where o is known to have no p: of an instance or event it is null for ever, of a scalar an error (language.md 4.8, 6.1).
import type { Member, Subscript } from '../../compiler/ast.ts';
import { didYouMean } from '../../compiler/index.ts';
import { isScalar, type Kind, named } from '../kinds.ts';
import { type CheckContext, instanceType, isSystemProperty, onlyKind } from './context.ts';

const EVENT = ['uuid', 'path', 'value', 'newValue', 'createdAt', 'topic', 'redelivered', 'deliveryCount', 'properties', 'ars_namespace'];

export function checkMember(context: CheckContext, node: Member): void {
  if (context.model.constants.has(node)) return;
  const kind = onlyKind(context, node.object);
  if (!kind) return;
  const { property } = node;
  if (kind.name === 'Sequence') return context.report(node.propertySpan, 'operand', 'a Sequence has no properties', TO_ARRAY);
  if (isSystemProperty(property) || context.ownProperties.has(property)) return;
  const names = propertiesOf(context, kind);
  if (!names || names.includes(property)) return;
  context.report(
    node.propertySpan,
    'property.unknown',
    `${named(kind)} has no property '${property}'`,
    hintFor(context, kind, property, names),
  );
}

const TO_ARRAY = 'it is read once, from its beginning: toArray(…) makes an array of it';

/** `s[0]` of a Sequence (language.md Q4). */
export function checkSubscript(context: CheckContext, node: Subscript): void {
  if (onlyKind(context, node.object)?.name === 'Sequence') context.report(node.index, 'operand', 'a Sequence has no subscripts', TO_ARRAY);
}

/** The names of all properties, or null when anything may be there. */
function propertiesOf(context: CheckContext, kind: Kind): readonly string[] | null {
  if (kind.name === 'Event') return EVENT;
  if (kind.name === 'String') return ['length', 'size'];
  if (kind.name === 'ResourceReference') return ['resource', 'resourceId'];
  if (isScalar(kind.name)) return [];
  const shape = instanceType(context, kind);
  return shape && [...shape.properties.keys()];
}

function hintFor(context: CheckContext, kind: Kind, property: string, names: readonly string[]): string | undefined {
  const value = kind.value?.length === 1 ? instanceType(context, kind.value[0] ?? null) : null;
  if (kind.name === 'Event' && (value?.properties.has(property) ?? !didYouMean(property, names)))
    return `the payload stands in value: value.${property}`;
  return didYouMean(property, names);
}
