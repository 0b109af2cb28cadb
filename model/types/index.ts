// The door of types: definitions, their checks and changes, and what makes submitted values instances of them.
export { type Cipher, cipherOf } from './cipher.ts';
export { checkFinal, fitsMaxLength } from './check-final.ts';
export { coerceDescribed, coerceProperty, coerceScalarValue, coerceSystemProperty } from './coerce.ts';
export { checkTypeChange, compareTypes, type TypeChange } from './compare-types.ts';
export {
  BASE_TYPES,
  type BaseType,
  type IndexDefinition,
  type IndexKey,
  isServiceSet,
  namesNothing,
  type KnownNames,
  type PropertyDefinition,
  SCALAR_ACTIONS,
  type ScalarAction,
  type ScalarDefinition,
  SYSTEM_PROPERTIES,
  type SystemProperty,
  type TypeDefinition,
} from './definition.ts';
export { type Fields, fieldsOf } from './fields.ts';
export { followIds, IdGenerator, idsBy, newestIdSecond, newId, ownershipOf } from './ids.ts';
export { parseInterval } from './interval.ts';
export { baseSchema, typeToSchema } from './json-schema.ts';
export { type MongoIndex, mongoIndexes, storedPath } from './mongo-indexes.ts';
export { baseNameOf, checkName, isRuleVersion, type NameKind, PUBLIC_EXECUTOR, storedUsername, SYSTEM_RESOURCES } from './names.ts';
export { ACCESS_LEVELS, parseType, type ParseTypeOptions, typeToValue } from './parse-type.ts';
export { atOnce, type InPieces, isDivisible, isLong, runsOf, type Speller, spellInPieces, weightOf } from './pieces.ts';
export {
  applyChanges,
  type Changes,
  prepareChanges,
  prepareInsert,
  prepareInsertInPieces,
  prepareUpdate,
  prepareUpdateInPieces,
} from './prepare.ts';
export { DataError, plainData } from './plain-data.ts';
export { Problems } from './problems.ts';
