// The value of the event by which a completed rule over several events runs (language.md 6.3), as text. The arguments stand last, so that
// they reach the program unparsed.

const ARGUMENTS = ',"args":';

/** Which section of the rule runs, with which arguments. */
export interface Completion {
  readonly entry: 'main' | 'timeout';
  /** Which of the arguments are event objects (without `newValue`). */
  readonly eventArgs: number[];
  /** Inner JSON of an array, in the order of the variables; null for what did not come. */
  readonly argsJson: string;
}

export const writeCompletion = ({ entry, eventArgs, argsJson }: Completion): string =>
  `{"entry":"${entry}","events":[${eventArgs.join(',')}]${ARGUMENTS}${argsJson}}`;

export function readCompletion(value: string): Completion {
  const at = value.indexOf(ARGUMENTS);
  const { entry, events } = JSON.parse(`${value.slice(0, at)}}`) as { entry: Completion['entry']; events: number[] };
  return { entry, eventArgs: events, argsJson: value.slice(at + ARGUMENTS.length, -1) };
}
