// The door of backups/: `cascade backup NAMESPACE FILE` and `cascade restore NAMESPACE FILE`.
export { backup } from './backup.ts';
export { restore } from './restore.ts';
export type { BackupOptions } from './passphrase.ts';
