// The door of resources/access: rights, policies' gate, constraints and audits.
export { AUDITS, AUDIT_TYPE, auditOf, auditOfMany, auditWrite, audited, entryFor, newAudit } from './audits.ts';
export { calledAs } from './called.ts';
export { COMPILED_RESTRICTIONS } from './compiled.ts';
export { CONSTRAINT_CONSTANTS, withoutRights } from './constraint-constants.ts';
export { isWrapped, storedConstraint } from './constraints.ts';
export { areForAll, raisedPath, resourceOfPath, sightOf } from './event-sight.ts';
export {
  accompanied,
  additionsOf,
  admit,
  both,
  definitionsFor,
  isThereFor,
  mayUse,
  mayUseThis,
  requireUse,
  requireWithin,
  restriction,
} from './gate.ts';
export { actingIn, hasRightsOfItsOwn } from './lent-profiles.ts';
export { requireEvictionTopic, requirePublish, requirePublishToSource } from './publishing.ts';
export { RULE_RIGHTS, RuleRights, requireMayChange, requireMayTake } from './rule-rights.ts';
export {
  acting,
  creatorOf,
  hasFixedRights,
  isAdmin,
  isWithdrawn,
  may,
  mayInvoke,
  OF_ALL,
  ownOnly,
  payloadWith,
  requireAdmin,
  requireRight,
  withOwn,
  withTokenOf,
} from './rights.ts';
export { refuseInPart } from './in-part.ts';
