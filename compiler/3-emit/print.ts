// The tree as text, with the source map that leads errors back to the rule's lines.
import { generate } from 'astring';
import type * as es from 'estree';
import { SourceMapGenerator } from 'source-map-js';

/** The name of the only source in a map. */
export const SOURCE_NAME = 'source';

export function print(program: es.Program): { text: string; map: string } {
  const generator = new SourceMapGenerator({ file: SOURCE_NAME });
  const text = generate(program, { sourceMap: generator as never });
  return { text: text.trimEnd().replace(/;$/, ''), map: generator.toString() };
}
