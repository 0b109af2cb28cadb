// From a place in the emitted text to the rule's own text.
import { SourceMapConsumer } from 'source-map-js';

/** Line and column, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/**
 * @param map CompiledModule.map @param line,column a frame's place in the emitted text, from 1
 * @returns the place in the source text, or null where the emitted text stands for no part of it
 */
export function originalPosition(map: string, line: number, column: number): Place | null {
  const consumer = new SourceMapConsumer(JSON.parse(map));
  const found = consumer.originalPositionFor({ line, column: column - 1 });
  return found.line === null || found.column === null ? null : { line: found.line, column: found.column + 1 };
}
