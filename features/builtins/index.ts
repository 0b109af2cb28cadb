// The built-ins that only the host can answer (stdlib/builtins declares them with the effect 'suspends').
import { langError } from '../../stdlib/errors.ts';
import type { Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { acknowledgement } from './acknowledgement.ts';
import { activityPatterns } from '../collaboration/activity-patterns.ts';
import { chat } from '../collaboration/chat.ts';
import { collaborationGeneration } from '../collaboration/collaboration-generation.ts';
import { collaborations } from '../collaboration/collaborations.ts';
import { deployment } from '../deployment/deployment.ts';
import { events } from './events.ts';
import { identity } from './identity.ts';
import { installation } from './installation.ts';
import { locationTracking } from '../collaboration/location-tracking.ts';
import { notifications } from '../notifications/notifications.ts';
import { recommend } from '../collaboration/recommend.ts';
import { references } from './references.ts';
import { resourceApi } from './resource-api.ts';
import { resourceConfig } from '../deployment/resource-config.ts';
import { tokens } from './tokens.ts';
import type { HostBuiltins } from '../../resources/operations/builtin-types.ts';

const ANSWERED: HostBuiltins = {
  ...identity,
  ...acknowledgement,
  ...events,
  ...references,
  ...tokens,
  ...resourceApi,
  ...resourceConfig,
  ...recommend,
  ...notifications,
  ...chat,
  ...locationTracking,
  ...collaborations,
  ...activityPatterns,
  ...collaborationGeneration,
  ...installation,
  ...deployment,
};

/** Answers a request of the kind `builtin`. @throws CascadeError, and what the operations of resources throw */
export async function answerBuiltin(space: Namespace, name: string, args: readonly Value[], actor: Actor): Promise<Answer> {
  const answer = Object.hasOwn(ANSWERED, name) ? ANSWERED[name] : undefined;
  if (!answer) throw langError('cascade.lang.procedure.unknown', name);
  return answer(space, args, actor);
}

/** The same where there is no namespace; null for those that need one. @throws CascadeError */
export function answerAlone(name: string, args: readonly Value[]): Answer | null {
  return Object.hasOwn(tokens, name) ? tokens[name as keyof typeof tokens](null, args) : null;
}

/** The names that are answered, for the test that holds them to the declarations. */
export const answeredBuiltins: readonly string[] = Object.keys(ANSWERED);
