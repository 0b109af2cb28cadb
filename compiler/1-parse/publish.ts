// PUBLISH, CREATE, ALTER, DROP (language.md 2.3).
import type { Create, DefinitionKind, Drop, Publish, PublishRequest, Ref } from '../ast.ts';
import type { Cursor } from './cursor.ts';
import { ref, startsRef } from './names.ts';
import { options } from './options.ts';
import { processedBy } from './processed-by.ts';
import { VERSION } from './tokens.ts';

export function publish(p: Cursor): Publish | PublishRequest {
  const start = p.start();
  p.take();
  if (p.at('request') && p.at('on', 1) && startsRef(p, 2)) return publishRequest(p, start);
  const value = p.grammar.expression(p);
  p.expect('to', 'the form is PUBLISH value TO TOPIC "/a/b"');
  const { kind, target } = destination(p);
  const schedule = kind === 'topic' && p.clause('schedule') ? (p.take(), p.grammar.expression(p)) : null;
  const using = kind === 'source' && p.clause('using') ? (p.take(), p.grammar.expression(p)) : null;
  return p.node(start, { type: 'Publish', value, kind, target, schedule, using, processedBy: processedBy(p) });
}

function destination(p: Cursor): { kind: Publish['kind']; target: Ref } {
  if (p.accept('topic')) return { kind: 'topic', target: ref(p, 'a topic', 'strings') };
  if (p.accept('source')) return { kind: 'source', target: ref(p, 'a source', 'strings') };
  if (p.accept('service')) {
    p.expect('event');
    return { kind: 'serviceEvent', target: ref(p, 'an event of a service', 'strings') };
  }
  return p.missing("'TOPIC', 'SOURCE' or 'SERVICE EVENT'", 'for example TO TOPIC "/a/b"');
}

function publishRequest(p: Cursor, start: number): PublishRequest {
  p.take();
  p.take();
  const target = ref(p, 'a type');
  p.expect('with', 'the form is PUBLISH REQUEST ON Type WITH object');
  const value = p.grammar.expression(p);
  return p.node(start, { type: 'PublishRequest', target, value, processedBy: processedBy(p) });
}

const KINDS = ['rule', 'procedure', 'type', 'topic', 'source', 'node'] as const;

function definitionKind(p: Cursor): DefinitionKind {
  const kind = KINDS.find((word) => p.at(word));
  if (!kind) p.missing('RULE, PROCEDURE, TYPE, TOPIC, SOURCE or NODE');
  p.take();
  return kind;
}

export function create(p: Cursor): Create {
  const start = p.start();
  const verb = p.at('alter') ? 'alter' : 'create';
  p.take();
  const kind = definitionKind(p);
  if (!p.at('(')) p.missing("'('", `the definition stands in parentheses: ${verb.toUpperCase()} ${kind.toUpperCase()} (definition)`);
  const value = p.group(
    '(',
    () => p.grammar.expression(p),
    () => p.nothing(),
  );
  return p.node(start, { type: 'Create', verb, kind, value, options: options(p), processedBy: processedBy(p) });
}

export function drop(p: Cursor): Drop {
  const start = p.start();
  p.take();
  const kind = definitionKind(p);
  const target = ref(p, 'a name', 'strings');
  if (p.at(':') && (p.kind(1) === VERSION || kind === 'rule'))
    p.fail('a name with a version is written as a String', 'DROP RULE "name:version"');
  return p.node(start, { type: 'Drop', kind, target, processedBy: processedBy(p) });
}
