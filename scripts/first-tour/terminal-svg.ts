// Lines of a terminal as an SVG. Pure.

/** What is typed, what is answered, and what is marked in an answer. */
export interface TerminalLine {
  readonly kind: 'typed' | 'text' | 'answer' | 'mark';
  readonly text: string;
}

const LETTER = 8.4;
const LINE = 21;
const EDGE = 20;
const TOP = 44;
const COLOURS: Readonly<Record<TerminalLine['kind'], string>> = { typed: '#79c0ff', text: '#d2a8ff', answer: '#c9d1d9', mark: '#7ee787' };

/** @param title for those who cannot see it */
export function terminalSvg(lines: readonly TerminalLine[], title: string): string {
  const width = Math.ceil(Math.max(...lines.map(({ text }) => text.length)) * LETTER + 2 * EDGE);
  const height = TOP + lines.length * LINE + EDGE;
  const rows = lines.flatMap(({ kind, text }, at) => {
    if (text === '') return [];
    const [blanks = ''] = /^ */.exec(text) ?? [];
    const x = EDGE + blanks.length * LETTER;
    const shown = text.slice(blanks.length);
    // Whatever font is there, a letter is as wide as the others.
    const length = (shown.length * LETTER).toFixed(1);
    return `<text x="${x.toFixed(1)}" y="${TOP + at * LINE + 14}" textLength="${length}" fill="${COLOURS[kind]}">${escaped(shown)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${[20, 40, 60].map((x) => `<circle cx="${x}" cy="20" r="6" fill="#30363d"/>`).join('')}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">
${rows.join('\n')}
</g>
</svg>
`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
