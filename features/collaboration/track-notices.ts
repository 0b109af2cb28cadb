// What the devices of a tracked user are told (builtins.md 26), by their inboxes: where to report positions and how fine, and the end of it.
import { getOwn, type ObjectValue, setOwn } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { deleteOne } from '../../resources/instances/index.ts';
import { idOf } from '../../resources/representation/index.ts';
import { notifyOf } from '../notifications/index.ts';
import { TRACKS } from './service-types.ts';

const ASKED = ['activity', 'level', 'distanceFilter', 'desiredAccuracy', 'destination', 'destinationRadius', 'reportingTopic'] as const;

/** Asks the devices of a track's user for positions. */
export function requestPositions(space: Namespace, track: ObjectValue, actor: Actor): Promise<void> {
  const value: ObjectValue = { kind: 'track', trackId: idOf(track) };
  for (const name of ASKED) setOwn(value, name, getOwn(track, name) ?? null);
  return notifyOf(space, value, [userOf(track)], actor);
}

/** Deletes a track, and tells the devices of its user that nobody wants their positions any more. @returns whether it was there */
export async function endTrack(space: Namespace, track: ObjectValue, actor: Actor): Promise<boolean> {
  if ((await deleteOne(space, TRACKS, async () => track, actor)) !== 1) return false;
  const value = { kind: 'untrack', trackId: idOf(track), activity: getOwn(track, 'activity') };
  await notifyOf(space, value, [userOf(track)], actor);
  return true;
}

/** As devices name it: tracks of former versions have it as it was given. */
const userOf = (track: ObjectValue): string => String(getOwn(track, 'username')).toLowerCase();
