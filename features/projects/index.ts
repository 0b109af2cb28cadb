// The files of a project: where each resource stands and in which form. This is the folder's door for the command line.
export {
  agrees,
  canonical,
  documentFile,
  documentName,
  fileOf,
  FOLDERS,
  isOwn,
  isProgram,
  JSON_AFTER,
  JSON_BEFORE,
  JSON_FOLDERS,
  type Members,
  parseExact,
  programName,
  PROGRAMS,
  toSend,
  toText,
  written,
} from './layout.ts';
export { projects } from './feature.ts';
