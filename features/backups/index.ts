// Backups of namespaces: the feature, and the form of a backup for the command line. This is the folder's door.
export { type BackupRecord, FORMAT, type Head, isHead, isLast, isRow, type Last, type Row, type Stretching } from './format.ts';
export { backups } from './feature.ts';
