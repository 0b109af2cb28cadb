// `cascade backup NAMESPACE FILE` and `cascade restore NAMESPACE FILE`. This is the folder's door.
export { backup } from './backup.ts';
export { restore } from './restore.ts';
export type { BackupOptions } from './passphrase.ts';
