// The door of resources/definitions: operations on definitions, batches of them, and checks that kinds share.
export { comparedForm } from './compared-form.ts';
export { DefinitionBatch } from './definition-batch.ts';
export { deleteDefinition } from './delete.ts';
export { ignoreDeleted } from './deleted.ts';
export { deleteInstance, deleteInstances, deleteWithDependents } from './dependents.ts';
export { checkCallersProperties, checkFields, invalidField, requireData, textField, warningsOf, withoutOldText } from './fields.ts';
export { type Named, following, orReadLater, refresh } from './follow.ts';
export {
  changeDefinition,
  changeDefinitionBy,
  definitionCondition,
  definitionJson,
  findDefinition,
  lineOf,
  matching,
  matchingStored,
  putDefinition,
  readDefinition,
  selectDefinitions,
  selectedFrom,
  shown,
  visible,
} from './operations.ts';
export { withReferenceErrors } from './reference-errors.ts';
export { compareBy } from './sort.ts';
export { type Split, splitSecrets } from './split-secrets.ts';
