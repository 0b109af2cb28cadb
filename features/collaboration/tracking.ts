// Handles positions on the reporting topic of a track (builtins.md 26): updates the record, and publishes the arrival once. Both are one
// unit with the events of the topic.

import {
  DateTime,
  dateTimeOf,
  getOwn,
  isInteger,
  isObject,
  numberOf,
  type ObjectValue,
  parseDateTime,
  type Value,
} from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { read, changeOf, updateOne, atomically } from '../../resources/instances/index.ts';
import { idOf } from '../../resources/representation/index.ts';
import { isPoint, metres } from './places.ts';
import { TRACKS } from './service-types.ts';
import { endTrack } from './track-notices.ts';
import type { Namespace, Publish } from '../../resources/catalog/index.ts';
import { StateKey } from '../../resources/states.ts';

/** Topics with tracks: read from the store once, then maintained when tracks start. */
const AWAITED = new StateKey<{ topics: Promise<Set<string>> | null }>('topics of tracks', () => ({ topics: null }));
/** Limits the tracks of one user on one topic. */
const MOST_TRACKS = 1_000;

function topicsOf(space: Namespace): Promise<Set<string>> {
  const awaited = space.states.get(AWAITED);
  if (awaited.topics) return awaited.topics;
  const topics = space.storage.db
    .collection(TRACKS.collection)
    .distinct('reportingTopic')
    .then((names) => new Set(names.map(String)));
  awaited.topics = topics;
  topics.catch(() => (awaited.topics = null));
  return topics;
}

/** Starts to handle positions on a topic. */
export async function awaitPositions(space: Namespace, topic: string): Promise<void> {
  (await topicsOf(space)).add(topic);
}

/** Whether a message on the topic may be a position. */
export const awaitsPositions = async (space: Namespace, topic: string): Promise<boolean> => (await topicsOf(space)).has(topic);

/** A track, as positions of the same unit leave it. */
interface Followed {
  readonly stored: ObjectValue;
  changes: ObjectValue | null;
  hasArrived: boolean;
}

/**
 * Handles messages on a topic with tracks, in one unit: what becomes of a track is written once.
 * @param messages `{username, location, timestamp?}` is a position, others are only published
 * @param publish raises the event of a topic
 */
export function followPositions(
  space: Namespace,
  topic: string,
  messages: readonly Value[],
  actor: Actor,
  publish: Publish,
): Promise<Answer> {
  return atomically(space, `positions ${topic}`, actor, async (batching) => {
    const followed = new Map<string, Followed>();
    const tracksOf = remembering(async (username: string) => {
      const tracks = await read(space, TRACKS, { reportingTopic: topic, username: { $in: spellings(username) } }, MOST_TRACKS);
      return tracks.map((stored) => {
        const one = followed.get(idOf(stored)) ?? { stored, changes: null, hasArrived: false };
        followed.set(idOf(stored), one);
        return one;
      });
    });
    for (const message of messages) {
      await publish(topic, message, batching);
      const position = positionIn(message, batching);
      if (!position) continue;
      for (const track of await tracksOf(position.username)) {
        if (track.hasArrived) continue;
        track.hasArrived = isThere(track.stored, position.location); // however short the last step was
        if (track.hasArrived) await arrive(space, track.stored, position, batching, publish);
        else if (movedEnough({ ...track.stored, ...track.changes }, position.location))
          track.changes = { lastLocation: position.location, lastActive: position.at };
      }
    }
    for (const { stored, changes, hasArrived } of followed.values())
      if (changes && !hasArrived) await updateOne(space, TRACKS, async () => stored, changeOf(TRACKS, changes), batching);
    return null;
  });
}

async function arrive(space: Namespace, track: ObjectValue, { at }: Position, batching: Actor, publish: Publish): Promise<void> {
  await endTrack(space, track, batching);
  const arrivalTopic = getOwn(track, 'arrivalTopic');
  if (typeof arrivalTopic !== 'string') return;
  const { username, destination, activity } = track as Record<'username' | 'destination' | 'activity', Value>;
  await publish(arrivalTopic, { username, destination, activity, timestamp: at }, batching);
}

/** The function, asked once for each name. */
function remembering<T>(ask: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (name) => {
    const answer = known.get(name) ?? ask(name);
    known.set(name, answer);
    return answer;
  };
}

/** As it is stored, and as it was given: tracks of former versions have it so. */
const spellings = (username: string): string[] => [...new Set([username.toLowerCase(), username])];

interface Position {
  readonly username: string;
  readonly location: ObjectValue;
  readonly at: DateTime;
}

function positionIn(value: Value, { clock }: Actor): Position | null {
  if (!isObject(value)) return null;
  const { username = null, location = null, timestamp = null } = value;
  if (typeof username !== 'string' || !isPoint(location)) return null;
  return { username, location, at: timeIn(timestamp) ?? new DateTime(clock.now()) };
}

function timeIn(value: Value): DateTime | null {
  if (typeof value === 'string') return parseDateTime(value);
  return value instanceof DateTime ? value : isInteger(value) ? dateTimeOf(Number(value)) : null;
}

function movedEnough(track: ObjectValue, location: ObjectValue): boolean {
  const last = getOwn(track, 'lastLocation');
  return !isPoint(last) || metres(last, location) >= numberOf(getOwn(track, 'distanceFilter') ?? 0);
}

function isThere(track: ObjectValue, location: ObjectValue): boolean {
  const destination = getOwn(track, 'destination');
  return isPoint(destination) && metres(destination, location) <= numberOf(getOwn(track, 'destinationRadius') ?? 0);
}
