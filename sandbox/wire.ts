// The headers of the frames between the service and the sandbox process, and the file descriptors that both sides know.

/** Pipes of the child process. Lane i has the descriptor `firstLane + i`. */
export const DESCRIPTORS = { control: 3, marks: 4, firstLane: 5 } as const;
/** A mark: u32 lane, u32 batch. Written synchronously before a batch is begun, so that it is known even if the batch ends the process. */
export const MARK_BYTES = 8;

/** 'become': to be sent when the lanes are ready, before anything of a user is; answered by 'became'. */
export type ToProcess = { kind: 'open'; lanes: number; settings: LaneSettings } | { kind: 'ping' } | { kind: 'become'; user: number };
export type FromProcess = { kind: 'pong' } | { kind: 'became' };

/** The isolates' script goes along as the text of the 'open' frame. */
export interface LaneSettings {
  memoryLimitMb: number;
  stepTimeoutMs: number;
  /** Without a ping for as long, the process ends itself. */
  silenceMs: number;
}

/** To a lane; the text holds the items. */
export interface BatchHeader {
  /** From 1; 0 when there is only something to dispose, and nothing to answer. */
  batch: number;
  /** Which isolate: it is made when it does not exist, or when the one that exists has a lower generation. */
  isolate: string;
  generation: number;
  /** Modules to define before the step: [hash, source]. */
  load?: [string, string][];
  /** Isolates to dispose. */
  close?: string[];
}

/** From a lane; the text holds the items, '' when there are none. */
export type LaneHeader = { kind: 'ready' } | BatchReply;

export interface BatchReply {
  kind: 'batch';
  batch: number;
  cpuMs: number;
  /** Used part of the isolate's memory limit. */
  heap: number;
  /** The batch was not finished, and its isolate is no more. */
  lost?: LossReason;
  detail?: string;
  /** Modules that could not be defined: [hash, message]. */
  unloadable?: [string, string][];
}

/** 'stale': the isolate was lost by an earlier batch, this one was not begun. */
export type LossReason = 'timeout' | 'memory' | 'error' | 'stale';
