// The door of the isolate's side: the driver for whoever runs it in-process (tests, the command line), and the protocol's types.
export { createDriver, type Driver } from './driver.ts';
export { refuseLambdasAsJson } from './realm.ts';
export { LIMITS } from './limits.ts';
export type {
  AggregateName,
  Described,
  Frame,
  FrameSettings,
  In,
  Inner,
  OpKind,
  OpPayloads,
  Out,
  ProcedureInfo,
  ProcedureParameter,
  RunId,
  SelectPayload,
  StartOptions,
  WireError,
} from './protocol.ts';
export type { OneWireError, StatePayload } from './protocol.ts';
