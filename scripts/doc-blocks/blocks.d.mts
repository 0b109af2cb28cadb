export interface Block {
  file: string;
  line: number;
  text: string;
  expected?: string;
  shown?: string;
}
export const DOCUMENTS: readonly string[];
export function blocksOf(file: string, text: string): Block[];
export function callsOf(block: Block): string[][];
export function scriptOf(words: readonly string[]): string | undefined;
export function toScript(blocks: readonly Block[], options: { whole: boolean }): string;
export function faultsOf(blocks: readonly Block[], output: string): string[];
