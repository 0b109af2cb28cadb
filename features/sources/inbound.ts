// What arrives at a source (integrations.md 1.6): unwound, through the rules of its pipeline, then an event for rules and subscribers.
import { randomUUID } from 'node:crypto';
import { Long, ObjectId } from 'mongodb';
import { decodeInner, encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import type { LogEntry } from '../../runtime/transactions/index.ts';
import { eventObject } from '../../runtime/events/event-object.ts';
import { fault } from '../../model/errors/faults.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { decided } from '../../resources/instances/before.ts';
import { raise, type Raising } from '../../runtime/events/events.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { bindsOn, programIn } from '../../runtime/events/references.ts';
import { isActive, own, pipelineOf, stateOf } from './state.ts';
import { sourceCountsOf } from './namespace-state.ts';

export const sourcePath = (name: string): string => `/sources/${name}/publish`;

type Transport = NonNullable<Raising['transport']>;

/**
 * Takes one message of a source and raises its event, one for each element where it unwinds arrays.
 * @throws cascade.source.direction, .inactive; cascade.source.pipeline.unresolved; cascade.source.pipeline.failed of a reliable source: who
 *   brought the message brings it again
 */
export async function receive(space: Namespace, source: ObjectValue, message: Value, transport: Transport, actor: Actor): Promise<void> {
  const name = String(own(source, 'name'));
  if (own(source, 'direction') === 'SINK') throw fault('cascade.source.direction', name, 'it only sends');
  if (!isActive(source)) throw fault('cascade.source.inactive', name, 'it is not active');
  const { error } = stateOf(space, source);
  if (error?.code === 'cascade.source.pipeline.unresolved')
    throw fault('cascade.source.pipeline.unresolved', name, 'a rule of its pipeline is not there');
  sourceCountsOf(space).add(name, 'received', space.clock.now());
  const unwound = own(source, 'autoUnwind') === true && Array.isArray(message) ? message : [message];
  const events = [];
  for (const one of unwound) {
    const value = await throughPipeline(space, source, one, transport, actor);
    if (value === undefined) continue;
    events.push(...raise(space, sourcePath(name), value, actor, { except: new Set(pipelineOf(source)), transport }));
  }
  await actor.commit({ writes: [], events }, { ok: 'null' });
}

/** The message as the rules of the pipeline leave it; undefined when one of them drops it. */
async function throughPipeline(
  space: Namespace,
  source: ObjectValue,
  message: Value,
  transport: Transport,
  actor: Actor,
): Promise<Value | undefined> {
  const name = String(own(source, 'name'));
  const path = sourcePath(name);
  let current = message;
  for (const ruleName of pipelineOf(source)) {
    const facts = { uuid: randomUUID(), path, atMs: space.clock.now(), transport };
    const event = (): ObjectValue => eventObject(facts, current, space.name);
    const chosen = space.when.match(path, current, event).find(({ rule }) => rule.name === ruleName);
    if (!chosen) continue; // its WHERE is false: the message goes on as it is
    const binds = bindsOn(chosen.rule, path);
    const taken = binds === 'event' ? event() : current;
    const executable = chosen.asks ? await decided(space, chosen, path, taken, actor, binds) : programIn(chosen.rule).executable;
    if (!executable) continue;
    try {
      const json = await runDirect(space.runs, {
        executable,
        body: { program: executable.program },
        argsJson: encodeInner([taken]),
        identity: executable.identity,
        caller: actor,
        snapshot: true,
      });
      current = decodeInner(json);
    } catch (error) {
      const detail = `the rule ${ruleName} of the pipeline failed: ${error instanceof Error ? error.message : String(error)}`;
      const failed = fault('cascade.source.pipeline.failed', name, detail);
      sourceCountsOf(space).add(name, 'failed', space.clock.now());
      const line = sourceCountsOf(space).lineOf(name, failed.message, space.clock.now());
      if (line !== null) await space.committer.submit({ writes: [], events: [], logs: [logOf(space, name, line)] }, true);
      if (own(source, 'isReliable') === true) throw failed;
      sourceCountsOf(space).add(name, 'dropped', space.clock.now());
      return undefined;
    }
    if (current === null) {
      sourceCountsOf(space).add(name, 'dropped', space.clock.now());
      return undefined;
    }
  }
  return current;
}

/** A message of the source itself (integrations.md 1.8). */
function logOf(space: Namespace, source: string, message: string): LogEntry {
  return {
    _id: new ObjectId(),
    invocationId: source,
    level: 'ERROR',
    message,
    sequenceId: Long.fromNumber(0),
    timestamp: new Date(space.clock.now()),
    resource: { resource: 'sources', resourceId: source },
    username: 'system',
    ars_version: Long.fromNumber(1),
  };
}
