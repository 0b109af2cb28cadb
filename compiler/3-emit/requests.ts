// What statements ask the host for: the kind of the operation and its payload (stdlib/isolate/protocol.ts, OpPayloads), as values.
import type * as es from 'estree';
import type { Create, Delete, Drop, Execute, Expression, Insert, Publish, PublishRequest, Ref, Update, Upsert } from '../ast.ts';
import type { ComputedChange } from '../2-check/index.ts';
import * as b from './build.ts';
import { emitMaterialized, emitNamed } from './calls.ts';
import type { ModuleWriter } from './context.ts';
import { emitDropped, emitOptions, emitServiceEvent, emitSource, emitTopic, emitType, emitValueSet } from './references.ts';
import { pathOn } from './row-paths.ts';
import { emitWhere } from './where.ts';

export interface Request {
  readonly kind: string;
  readonly payload: es.Expression;
}
export type Requesting = Insert | Upsert | Update | Delete | Publish | PublishRequest | Create | Drop;
type Members = [string, es.Expression][];
type Table = { [T in Requesting['type']]: (node: Extract<Requesting, { type: T }>, module: ModuleWriter) => Request };

const table: Table = {
  Insert: (node, module) => {
    const values = emitValueSet(node.values, 'inserted', node, module);
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['values', node.series ? module.helper('series', node, values) : values],
      ['series', b.literal(node.series)],
      ['options', emitOptions(node.options, module)],
    ];
    return { kind: 'insert', payload: b.object(members) };
  },
  Upsert: (node, module) => {
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['values', emitValueSet(node.values, 'upserted', node, module)],
      ['options', emitOptions(node.options, module)],
    ];
    return { kind: 'upsert', payload: b.object(members) };
  },
  Update: (node, module) => {
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['values', emitValueSet(node.values, 'used to update', node, module)],
      ['where', emitWhere(node.where, pathOn(simpleName(node.target)), module)],
      ['options', emitOptions(node.options, module)],
      ['onError', b.literal(node.onError !== null)],
    ];
    const computed = module.model.computed.updates.get(node);
    if (computed) members.push(['computed', emitComputed(computed, module)]);
    return { kind: 'update', payload: b.object(members) };
  },
  Delete: (node, module) => {
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['where', emitWhere(node.where, pathOn(simpleName(node.target)), module)],
      ['options', emitOptions(node.options, module)],
    ];
    return { kind: 'delete', payload: b.object(members) };
  },
  Publish: (node, module) => publishRequestOf(node, module),
  PublishRequest: (node, module) => {
    const value = module.helper('valueSet', node.value, module.value(node.value), b.literal('published'));
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['value', value],
    ];
    return { kind: 'publishRequest', payload: b.object(members) };
  },
  Create: (node, module) => {
    const members: Members = [
      ['kind', b.literal(node.kind)],
      ['value', module.value(node.value)],
      ['options', emitOptions(node.options, module)],
    ];
    return { kind: 'create', payload: b.object(members) };
  },
  Drop: (node, module) => {
    const members: Members = [
      ['kind', b.literal(node.kind)],
      ['name', emitDropped(node, module)],
    ];
    return { kind: 'drop', payload: b.object(members) };
  },
};

const isLiteral = ({ type }: Expression): boolean =>
  type === 'Integer' || type === 'Real' || type === 'String' || type === 'Boolean' || type === 'Null';

/** How the service computes the values anew where the row has changed since the program read it. */
function emitComputed({ set, given }: ComputedChange, module: ModuleWriter): es.Expression {
  for (const _ of given) module.copy();
  return b.object([
    ['set', b.data(set)],
    [
      'given',
      b.object(
        given.map((node, index) => [
          String(index),
          isLiteral(node) ? module.value(node) : module.helper('given', node, module.value(node)),
        ]),
      ),
    ],
  ]);
}

export function isRequesting(node: { readonly type: string }): node is Requesting {
  return Object.hasOwn(table, node.type);
}

export const requestOf = (node: Requesting, module: ModuleWriter): Request =>
  (table[node.type] as (node: Requesting, module: ModuleWriter) => Request)(node, module);

/** The arguments of EXECUTE, by position or by name. */
export function argumentsOf(node: Execute, module: ModuleWriter): Members {
  const positional = node.arguments.named.length > 0 ? b.literal(null) : b.array(module.values(node.arguments.positional));
  return [
    ['args', positional],
    ['named', emitNamed(node.arguments, module)],
  ];
}

/** EXECUTE * … WHERE. */
export function executeAllOf(node: Execute, module: ModuleWriter): Request {
  const where = emitWhere(node.where, (steps) => (steps[0] === 'properties' ? `ars_${steps.join('.')}` : steps.join('.')), module);
  const members: Members = [['where', where], ...argumentsOf(node, module)];
  if (node.async) members.push(['async', b.literal(true)]);
  return { kind: 'executeAll', payload: b.object(members) };
}

/** The type's simple name, with which a path of WHERE may begin (language.md W2). */
function simpleName(ref: Ref): string | null {
  return ref.type === 'QualifiedName' ? (ref.parts.at(-1)?.name ?? null) : null;
}

function publishRequestOf(node: Publish, module: ModuleWriter): Request {
  const value = module.helper('publishValue', node.value, emitMaterialized(node.value, module), b.literal(node.kind));
  if (node.kind === 'serviceEvent') {
    const members: Members = [
      ['target', emitServiceEvent(node.target, module)],
      ['value', value],
    ];
    return { kind: 'publishServiceEvent', payload: b.object(members) };
  }
  if (node.kind === 'source') {
    const members: Members = [
      ['source', emitSource(node.target, module)],
      ['value', value],
      ['using', node.using ? module.value(node.using) : b.literal(null)],
    ];
    return { kind: 'publishSource', payload: b.object(members) };
  }
  const members: Members = [
    ['topic', emitTopic(node.target, module)],
    ['value', value],
  ];
  if (node.schedule) members.push(['schedule', module.value(node.schedule)]);
  return { kind: 'publish', payload: b.object(members) };
}
