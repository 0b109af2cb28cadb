// How the checker tells what is wrong: the catalogue and the places are the business of compiler/diagnostics.ts.
import type { Span } from '../ast.ts';

/** `detail` is the sentence of the message; `hint` tells what may have been meant. */
export type Report = (at: Span, code: string, detail: string, hint?: string) => void;
