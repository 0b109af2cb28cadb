// `cascade why`: shows which rules run for an event, and for each other rule the condition that decided against it, with its values.
import { parseExact } from '../../features/projects/index.ts';
import { openRemote, type RemoteOptions } from './remote.ts';
import { readSource, type Terminal, UsageError } from './terminal.ts';

export interface WhyOptions extends RemoteOptions {
  readonly rule?: string;
  /** The path and value of a hypothetical event. */
  readonly path?: string;
  readonly value?: string;
  readonly json?: boolean;
}

interface Explained {
  readonly path: string;
  readonly value: unknown;
  readonly rules: readonly {
    readonly rule: string;
    readonly kind?: string;
    readonly outcome: string;
    readonly version?: string;
    /** The reason of a dead letter. */
    readonly reason?: string;
    /** The time of the rule's last change, if that was after the event. */
    readonly changed?: string;
    readonly windows?: readonly { readonly until: string | null; readonly events: readonly string[] }[];
    readonly term?: {
      readonly operator: string;
      readonly left: unknown;
      readonly right: unknown;
      readonly path: string | null;
      readonly error?: unknown;
    };
  }[];
}

const OUTCOMES: Readonly<Record<string, string>> = {
  runs: 'runs',
  asks: 'runs if a procedure of yours that its condition calls says so',
  waits: 'waits for further events',
  closed: 'waits for nothing more: it was complete, its time is over, or it opened nothing',
  condition: 'does not run: its WHERE is false',
  ruleWhere: 'does not run: its RULE WHERE is false',
  version: 'does not run: a younger version does',
  noRight: 'does not run: its editor may not hear this event, or not make this change',
  inactive: 'is not active',
  otherPath: 'listens on another path',
  suppressed: 'does not run: the type raises no events (rulesSuppressed)',
  pipeline: 'does not run by this event: it is in the pipeline of the source',
  lost: 'does not run: its text of that time is not kept any more',
  givenUp: 'was given up',
};

/** Reasons of dead letters in words. */
const REASONS: Readonly<Record<string, string>> = {
  chain: 'its chain of events is too long',
  lost: 'the text of the rule is not kept any more',
  poison: 'its run harmed the service each time',
  ttl: 'it was not acknowledged in time',
};

/** @param event uuid of a stored event (open, recorded, or a dead letter); undefined where a path and a value are given */
export async function why(event: string | undefined, options: WhyOptions, terminal: Terminal): Promise<number> {
  if ((event === undefined) === (options.path === undefined)) throw new UsageError('Give the uuid of an event, or --path with --value.');
  const remote = await openRemote(options, terminal.ask);
  const data = event === undefined ? { path: options.path, value: await valueOf(options.value) } : { event };
  const explained = (await remote.command('rules', options.rule ?? '*', 'why', data)) as Explained;
  if (options.json) {
    terminal.out(`${JSON.stringify(explained, null, 2)}\n`);
    return 0;
  }
  terminal.out(`${explained.path} ${JSON.stringify(explained.value)}\n`);
  if (explained.rules.length === 0) terminal.out('no rule listens there\n');
  for (const { rule, kind, outcome, reason, changed, term, windows = [] } of explained.rules) {
    terminal.out(
      `${kind === 'BEFORE' ? 'BEFORE ' : ''}${rule} ${OUTCOMES[outcome] ?? outcome}${reason ? `: ${REASONS[reason] ?? reason}` : ''}\n`,
    );
    if (changed) terminal.out(`    as it is since ${changed}, which is after the event\n`);
    if (term)
      terminal.out(`    ${term.path ?? JSON.stringify(term.left)} ${term.operator} ${JSON.stringify(term.right)}${whatWas(term)}\n`);
    for (const { until, events } of windows) terminal.out(`    until ${until ?? 'it is complete'}, with ${events.join(' and ')}\n`);
  }
  return 0;
}

const whatWas = ({ path, left, error }: NonNullable<Explained['rules'][number]['term']>): string =>
  error === undefined ? (path === null ? '' : `, and ${path} is ${JSON.stringify(left)}`) : `, which fails: ${JSON.stringify(error)}`;

/** The value given as JSON, or in a file as @file. */
async function valueOf(text: string | undefined): Promise<unknown> {
  if (text === undefined) return null;
  const json = text.startsWith('@') ? (await readSource(text.slice(1))).replace(/^\uFEFF/, '') : text;
  try {
    return parseExact(json);
  } catch (error) {
    throw new UsageError(`--value is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
