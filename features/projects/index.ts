// The door of projects, also for the command line: the layout of their files, and the form of each resource.
export {
  canonical,
  documentName,
  filesOf,
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
