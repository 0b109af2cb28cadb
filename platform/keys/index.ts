// Keys: the installation's, the namespaces', and what is sealed with them.
export { masterKeyId, openMasterKey, openNextMasterKey, parseMasterKey } from './master-key.ts';
export { open, seal } from './seal.ts';
export { changeMasterKey, MasterKeyError, type NamespaceKeys, openNamespaceKeys } from './namespace-keys.ts';
