// Keys: the installation's, the namespaces', and what is sealed with them.
export { openMasterKey, parseMasterKey } from './master-key.ts';
export { MasterKeyError, type NamespaceKeys, openNamespaceKeys } from './namespace-keys.ts';
