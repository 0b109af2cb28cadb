// Offsets of a text to lines and columns, and the little picture of the place: all that a person is shown of a position.
import type { Diagnostic, Diagnostics, Finding } from './diagnostics.ts';

export interface Position {
  /** From 1; a column counts UTF-16 code units, and a leading byte order mark counts nothing. */
  readonly line: number;
  readonly column: number;
}
const WIDEST_FRAME = 120;

/** The starts of the lines of one text; CR, LF and CRLF end a line (language.md L1). */
export class Lines {
  readonly #source: string;
  readonly #starts: number[] = [];

  constructor(source: string) {
    this.#source = source;
    this.#starts.push(source.charCodeAt(0) === 0xfeff ? 1 : 0);
    for (let i = 0; i < source.length; i += 1) {
      const code = source.charCodeAt(i);
      if (code === 10 || (code === 13 && source.charCodeAt(i + 1) !== 10)) this.#starts.push(i + 1);
    }
  }

  position(offset: number): Position {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.max(0, offset - this.#starts[low]!) + 1 };
  }

  /** The text of a line, without its end. */
  text(line: number): string {
    const start = this.#starts[line - 1]!;
    let end = this.#starts[line] ?? this.#source.length;
    while (end > start && (this.#source[end - 1] === '\n' || this.#source[end - 1] === '\r')) end -= 1;
    return this.#source.slice(start, end);
  }

  /** `12 | x = y +` over carets; a long line is cut around the place, control characters are made harmless. */
  frame(start: number, end: number): string {
    const { line, column } = this.position(start);
    const whole = this.text(line);
    const cut = column > WIDEST_FRAME - 20 ? column - WIDEST_FRAME / 2 : 0;
    const shown = whole.slice(cut, cut + WIDEST_FRAME);
    const before = (cut > 0 ? '…' : '') + shown.slice(0, column - 1 - cut);
    const width = Math.max(1, Math.min(end - start, shown.length - (column - 1 - cut)));
    const gutter = `${line} | `;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a terminal
    const clean = (text: string): string => text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, '\ufffd');
    const text = clean((cut > 0 ? '…' : '') + shown + (cut + WIDEST_FRAME < whole.length ? '…' : ''));
    return `${gutter}${text}\n${' '.repeat(gutter.length - 2)}| ${before.replace(/[^\t]/g, ' ')}${'^'.repeat(width)}`;
  }
}

/** The findings as diagnostics with line, column and frame, in the order of the text. */
export function toDiagnostics(source: string, found: Diagnostics): Diagnostic[] {
  if (found.list.length === 0) return [];
  const lines = new Lines(source);
  const order = [...found.list].sort((a, b) => a.start - b.start);
  return order.map((finding) => toDiagnostic(lines, finding));
}

function toDiagnostic(lines: Lines, finding: Finding): Diagnostic {
  const { line, column } = lines.position(finding.start);
  return { ...finding, line, column, params: [line, column, finding.message], frame: lines.frame(finding.start, finding.end) };
}
