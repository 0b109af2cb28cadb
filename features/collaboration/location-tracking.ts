// Tracks of users on their way to a destination (builtins.md 26), in ArsActiveTrack. tracking.ts handles positions, which are published on
// a topic.
import { DateTime, encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import { requirePublish } from '../../resources/access/index.ts';
import { checkTopic } from '../topics/index.ts';
import { read, readAt, insertOne, atomically } from '../../resources/instances/index.ts';
import { TRACKS } from './service-types.ts';
import { endTrack, requestPositions } from './track-notices.ts';
import { isPoint } from './places.ts';
import { awaitPositions } from './tracking.ts';
import type { Namespace, HostBuiltins } from '../../resources/catalog/index.ts';
import { outOfRange } from '../../resources/operations/index.ts';

/** Properties in the order of the built-in's parameters. */
const NAMES = [
  'activity',
  'username',
  'level',
  'distanceFilter',
  'desiredAccuracy',
  'destination',
  'destinationRadius',
  'arrivalTopic',
  'reportingTopic',
] as const;

/** Defaults of a track; distances in metres. */
export const TRACK_DEFAULTS = { level: 'fine', distanceFilter: 200, desiredAccuracy: 100, destinationRadius: 500 } as const;

/** Stores a track, which replaces an earlier one of the same user and activity, starts to handle positions on its topic, and asks for them. */
export async function startTrack(space: Namespace, given: ObjectValue, actor: Actor): Promise<Value> {
  const { activity = null, username: user = null, level = null, destination = null, reportingTopic = null, arrivalTopic = null } = given;
  if (activity === '') throw outOfRange('activity', activity);
  if (user === '') throw outOfRange('user', user);
  const username = String(user).toLowerCase();
  if (level !== 'fine' && level !== 'coarse') throw outOfRange('level', level);
  if (destination !== null && !isPoint(destination)) throw outOfRange('destination', destination);
  for (const topic of [reportingTopic, arrivalTopic]) if (topic !== null) checkTopic(String(topic));
  if (arrivalTopic !== null) requirePublish(space, String(arrivalTopic), actor.identity);
  const earlier = await read(space, TRACKS, { activity: String(activity), username }, 100);
  for (const track of earlier) await endTrack(space, track, actor);
  await awaitPositions(space, String(reportingTopic));
  const track = await insertOne(space, TRACKS, { ...given, username, startedAt: new DateTime(actor.clock.now()) }, actor);
  if (track) await requestPositions(space, track, actor);
  return track;
}

export const locationTracking: HostBuiltins = {
  'LocationTracking.trackCollaborator': (space, args, actor) => {
    const given: ObjectValue = Object.fromEntries(NAMES.map((name, i) => [name, args[i] ?? null] as const));
    return atomically(space, `tracks of ${String(given['username'])}`, actor, (batching) => startTrack(space, given, batching));
  },
  'LocationTracking.untrackCollaborator': async (space, [active = null, user = null], actor) => {
    const id = isObject(active) ? getOwn(active, '_id') : active;
    if (typeof id !== 'string') throw outOfRange('active', active);
    try {
      return await atomically(space, null, actor, async (batching) => {
        const track = await readAt(space, TRACKS, id);
        if (String(getOwn(track, 'username')).toLowerCase() !== String(user).toLowerCase()) return false;
        return endTrack(space, track, batching);
      });
    } catch (error) {
      if (error instanceof CascadeError && error.code === 'cascade.resource.not.found') return { ok: encodeInner(false) };
      throw error;
    }
  },
};
