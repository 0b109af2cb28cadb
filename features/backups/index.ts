// The door of backups: the feature, and the format of a backup for the command line.
export { type BackupRecord, FORMAT, type Head, isHead, isLast, isRow, type Last, type Row, type Stretching } from './format.ts';
export { backups } from './feature.ts';
export { requireKey } from './sealing.ts';
