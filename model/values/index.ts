// The door of host values: JSON of clients, stored BSON, and the ways between them.
export { asBytes, int64At, KIND, nameEnd, sizeOf, stringAt } from './bson-bytes.ts';
export { fromBson, instanceFromBson } from './from-bson.ts';
export { fromBsonInPieces, instanceFromBsonInPieces, instanceHead, isLongBson } from './from-bson-pieces.ts';
export { escapeKey, unescapeKey } from './keys.ts';
export { innerInPieces, innerToJson } from './inner-to-json.ts';
export { MAX_BODY_VALUES, parseJson, type ParseJsonOptions, parseLongJson } from './parse-json.ts';
export { StoredBytes } from './stored-bytes.ts';
export { idToBson, instanceToBson, propertyToBson, storedProperty, toBson } from './to-bson.ts';
export { instanceToBsonInPieces } from './to-bson-pieces.ts';
export {
  decodeInnerInPieces,
  encodeInnerInPieces,
  instanceToJsonInPieces,
  parseForeignJsonInPieces,
  parseJsonInPieces,
  propertyToJsonInPieces,
  toJsonInPieces,
} from './json-pieces.ts';
export { instanceToJson, propertyToJson, referenceText, toJson } from './to-json.ts';
export { openText, sealText } from './sealed-text.ts';
export {
  fromTyped,
  fromTypedInPieces,
  instanceToTypedJson,
  instanceToTypedJsonInPieces,
  toTypedJson,
  toTypedJsonInPieces,
  Untransferable,
} from './typed-json.ts';
export { storedVersion } from './stored-version.ts';
export { transcode, type TranscodeOptions, type Transcoder, transcoder, wholeTranscoder, type Spelling } from './transcode.ts';
