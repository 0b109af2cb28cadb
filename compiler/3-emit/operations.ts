// Statements that ask the host for one operation (stdlib/isolate/protocol.ts, OpPayloads): their request, as a value.
import type * as es from 'estree';
import type {
  Create,
  Delete,
  Drop,
  Execute,
  Insert,
  Publish,
  PublishRequest,
  Recommend,
  Ref,
  Select,
  Statement,
  Update,
  Upsert,
  Value,
} from '../ast.ts';
import * as b from './build.ts';
import { emitExecuted, emitMaterialized, emitNamed } from './calls.ts';
import { type ModuleWriter, variable } from './context.ts';
import { emitFederated, isFederated } from './processed-by.ts';
import { emitOptions, emitPlainName, emitServiceEvent, emitSource, emitTopic, emitType, emitValueSet, optionValue } from './references.ts';
import { emitSelect } from './select.ts';
import { emitWhere, pathOn } from './where.ts';

export type Operation = Insert | Upsert | Update | Delete | Execute | Publish | PublishRequest | Create | Drop | Recommend | Select;
type Table = { [T in Operation['type']]: (node: Extract<Operation, { type: T }>, tail: boolean, module: ModuleWriter) => es.Expression };

const table: Table = {
  Select: (node, _tail, module) => emitSelect(node, module),
  Insert: (node, tail, module) => {
    const values = emitValueSet(node.values, 'inserted', node, module);
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['values', node.series ? module.helper('series', node, values) : values],
      ['series', b.literal(node.series)],
      ['options', emitOptions(node.options, module)],
    ];
    return module.operation('insert', node, b.object(members), tail);
  },
  Upsert: (node, tail, module) => {
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['values', emitValueSet(node.values, 'upserted', node, module)],
      ['options', emitOptions(node.options, module)],
    ];
    return module.operation('upsert', node, b.object(members), tail);
  },
  Update: (node, tail, module) => {
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['values', emitValueSet(node.values, 'used to update', node, module)],
      ['where', emitWhere(node.where, pathOn(simpleName(node.target)), module)],
      ['options', emitOptions(node.options, module)],
      ['onError', b.literal(node.onError !== null)],
    ];
    return module.operation('update', node, b.object(members), tail);
  },
  Delete: (node, tail, module) => {
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['where', emitWhere(node.where, pathOn(simpleName(node.target)), module)],
      ['options', emitOptions(node.options, module)],
    ];
    return module.operation('delete', node, b.object(members), tail);
  },
  Publish: (node, tail, module) => emitPublish(node, tail, module),
  PublishRequest: (node, tail, module) => {
    const value = module.helper('valueSet', node.value, module.value(node.value), b.literal('published'));
    const members: Members = [
      ['resource', emitType(node.target, module)],
      ['value', value],
    ];
    return module.operation('publishRequest', node, b.object(members), tail);
  },
  Create: (node, tail, module) => {
    const members: Members = [
      ['kind', b.literal(node.kind)],
      ['value', module.value(node.value)],
      ['options', emitOptions(node.options, module)],
    ];
    return module.operation('create', node, b.object(members), tail);
  },
  Drop: (node, tail, module) => {
    const members: Members = [
      ['kind', b.literal(node.kind)],
      ['name', emitPlainName(node.target, module)],
    ];
    return module.operation('drop', node, b.object(members), tail);
  },
  Execute: (node, tail, module) => emitExecute(node, tail, module),
  Recommend: (node, _tail, module) => {
    const loop = module.model.recommendations.get(node);
    const list = loop ? variable(loop.result.name) : b.literal(null);
    const option = (name: string): es.Expression => {
      const value = optionValue(node.options, name);
      return value ? module.value(value) : b.literal(null);
    };
    return module.helper('recommend', node, b.id('$'), list, module.value(node.candidate), option('relevance'), option('reason'));
  },
};
type Members = [string, es.Expression][];

export function isOperation(node: Statement | Value): node is Operation {
  return Object.hasOwn(table, node.type);
}

/** @param tail the run ends with it, and its value is not used */
export function emitOperation(node: Operation, tail: boolean, module: ModuleWriter): es.Expression {
  if (isFederated(node)) return emitFederated(node, module);
  return (table[node.type] as (node: Operation, tail: boolean, module: ModuleWriter) => es.Expression)(node, tail, module);
}

/** Whether the statement can be a run's last effect: one operation and then nothing (mechanisms.md a3). */
export function isTailEffect(node: Statement | Value): node is Operation {
  if (isFederated(node)) return false;
  if (node.type === 'Execute') return node.async;
  if (node.type === 'Update') return node.onError === null;
  return isOperation(node) && node.type !== 'Select' && node.type !== 'Recommend';
}

/** The type's simple name, with which a path of WHERE may begin (language.md W2). */
function simpleName(ref: Ref): string | null {
  return ref.type === 'QualifiedName' ? (ref.parts.at(-1)?.name ?? null) : null;
}

function emitPublish(node: Publish, tail: boolean, module: ModuleWriter): es.Expression {
  const value = module.helper('publishValue', node.value, emitMaterialized(node.value, module), b.literal(node.kind));
  if (node.kind === 'serviceEvent') {
    const members: Members = [
      ['target', emitServiceEvent(node.target, module)],
      ['value', value],
    ];
    return module.operation('publishServiceEvent', node, b.object(members), tail);
  }
  if (node.kind === 'source') {
    const members: Members = [
      ['source', emitSource(node.target, module)],
      ['value', value],
      ['using', node.using ? module.value(node.using) : b.literal(null)],
    ];
    return module.operation('publishSource', node, b.object(members), tail);
  }
  const members: Members = [
    ['topic', emitTopic(node.target, module)],
    ['value', value],
  ];
  if (node.schedule) members.push(['schedule', module.value(node.schedule)]);
  return module.operation('publish', node, b.object(members), tail);
}

/** EXECUTE p(a) is p(a); ASYNC and `*` are the host's business (language.md 5.14). */
function emitExecute(node: Execute, tail: boolean, module: ModuleWriter): es.Expression {
  const target = module.model.calls.get(node);
  const positional = node.arguments.named.length > 0 ? b.literal(null) : b.array(module.values(node.arguments.positional));
  const args: Members = [
    ['args', positional],
    ['named', emitNamed(node.arguments, module)],
  ];
  if (!node.procedure || !target) {
    const where = emitWhere(node.where, (steps) => (steps[0] === 'properties' ? `ars_${steps.join('.')}` : steps.join('.')), module);
    return module.operation('executeAll', node, b.object([['where', where], ...args]), tail);
  }
  const partitionKey = optionValue(node.options, 'partitionKey');
  if (!node.async) return emitExecuted(target, node.arguments, partitionKey, node.procedure, module);
  const names = target.kind === 'user' ? target.names : [target.info.name];
  const members: Members = [['names', b.array(names.map((name) => b.literal(name)))], ...args, ['async', b.literal(node.async)]];
  if (partitionKey) members.push(['partitionKey', module.value(partitionKey)]);
  return module.operation('execute', node, b.object(members), tail);
}
