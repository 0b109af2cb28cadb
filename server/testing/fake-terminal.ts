// A terminal whose output a test can read.
import { main } from '../cli/main.ts';

export interface Outcome {
  code: number;
  out: string;
  err: string;
}

/**
 * Runs one command, as from a shell, with the given environment.
 * @param answers the person's answers, one for each question; undefined: there is no terminal
 */
export async function cascade(args: readonly string[], env: Record<string, string> = {}, answers?: string[]): Promise<Outcome> {
  let out = '';
  let err = '';
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    colors: false,
    env,
    ask: answers && ((question: string) => Promise.resolve(answers.shift() ?? `unexpected: ${question}`)),
  };
  const code = await main(args, terminal);
  return { code, out, err };
}
