// The door of diagnostics.
export { DEBUGCONFIGS, isExpired, isTraced, logLevelOf } from './debugconfigs-kind.ts';
export { diagnostics } from './feature.ts';
export { RECORDINGS, findRecording, recordingWrites, trimRecordings } from './recordings.ts';
export { diagnosticsBytes, tellOfExcess, tellOfFullAnswers } from './retention.ts';
export { serviceMessage } from './service-messages.ts';
export { snapshot } from './snapshots.ts';
export { eventsOf } from './tail.ts';
export { trimLogs } from './trim-logs.ts';
