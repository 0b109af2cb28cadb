// The door of resources/catalog: the types of a namespace, its resources and the features' registrations.
export type { HostBuiltin, HostBuiltins } from './builtin-types.ts';
export { findType, instancesOf, resolve, typeOfCollection } from './catalogue.ts';
export { DEFINITIONS, DefinitionStore, definitionRemoval, definitionWrite, omit, RESTORED_DEFINITIONS } from './definition-store.ts';
export {
  type Command,
  type Feature,
  FeatureRegistry,
  type ProgramOperation,
  type PublicationFollower,
  type Publish,
  type ResourceRequest,
} from './feature.ts';
export { keptByService } from './kept-by-service.ts';
export type { Capability, Change, Policy } from './policy.ts';
export { type Shape, systemType } from './system-type.ts';
export {
  CONFIGURATION_SHAPE,
  DEBUGCONFIG_SHAPE,
  DEPLOYCONFIG_SHAPE,
  LOG_TYPE,
  NAMESPACE_SHAPE,
  ORGANIZATION_SHAPE,
  PROCEDURE_SHAPE,
  RULE_SHAPE,
  SCALAR_SHAPE,
  SCHEDULED_EVENT_SHAPE,
  SERVICE_SHAPE,
  SNAPSHOT_TYPE,
  SOURCE_SHAPE,
  TOKEN_SHAPE,
  TOPIC_SHAPE,
  TYPE_SHAPE,
  USER_SHAPE,
  systemProperties,
} from './system-types.ts';
export { TypesInForce } from './types-in-force.ts';
export {
  type Catalog,
  type ChangeAlong,
  type Defined,
  type DefinitionResource,
  type Installation,
  type InstallationResource,
  type InstanceResource,
  type NameScope,
  type Namespace,
  type Resource,
  knownNames,
  storedNames,
} from './types.ts';
