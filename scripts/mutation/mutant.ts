// One mutant as StrykerJS tells of it, and what names it whatever line it is on.
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Mutant {
  readonly id: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** Of a mutant in a file: stays the same while its line does, so that samples and the list of accepted ones outlive changes elsewhere. */
export interface Identity {
  readonly file: string;
  /** The first line that is changed, without blanks at its ends. */
  readonly line: string;
  /** `before → after`, shortened. */
  readonly change: string;
}

const LONGEST = 60;

/** @param firstLine the number that positions give to the first line; columns begin at the same number */
export function identify(file: string, source: string, mutant: Mutant, firstLine: 0 | 1): Identity {
  const lines = source.split('\n');
  const { start } = mutant.location;
  const line = lines[start.line - firstLine]?.trim() ?? '';
  return { file, line, change: `${short(original(source, mutant, firstLine))} → ${short(mutant.replacement ?? mutant.mutatorName)}` };
}

/** The text that it replaces. */
export function original(source: string, { location: { start, end } }: Mutant, firstLine: 0 | 1): string {
  const lines = source.split('\n').slice(start.line - firstLine, end.line - firstLine + 1);
  if (lines.length === 0) return '';
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - firstLine);
  lines[0] = lines[0]!.slice(start.column - firstLine);
  return lines.join('\n');
}

export const nameOf = ({ file, line, change }: Identity): string => JSON.stringify([file, line, change]);

function short(text: string): string {
  const plain = text.replace(/\s+/g, ' ');
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 1)}…`;
}
