// A terminal whose output a test can read.
import { main } from '../cli/main.ts';

export interface Outcome {
  code: number;
  out: string;
  err: string;
}

/**
 * One command, as from a shell, with the environment given.
 * @param answers of the person at the terminal, one for each question; undefined: nobody is there
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
