// Diagnostics for people: place, message, the line with a caret, and a hint.
import { styleText } from 'node:util';
import type { Diagnostic } from '../../compiler/index.ts';

/** Prints diagnostics, each followed by a blank line. */
export function printDiagnostics(file: string, diagnostics: readonly Diagnostic[], colors: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colors ? styleText(style, text, { validateStream: false }) : text;
  return diagnostics
    .map(({ code, severity, message, line, column, frame, hint }) => {
      const place = paint('bold', `${file}:${line}:${column}`);
      const kind = severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning');
      const help = hint === undefined ? '' : `${paint('cyan', 'help')}: ${hint}\n`;
      return `${place}: ${kind}: ${message} ${paint('dim', `[${code}]`)}\n${frame}\n${help}\n`;
    })
    .join('');
}
