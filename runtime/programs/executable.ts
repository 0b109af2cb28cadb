// The executable form of a rule or procedure.
import type { Identity } from '../../identity/index.ts';
import type { Program } from '../../sandbox/index.ts';

/** A rule or procedure with its present text, or with the one that it had when its event was stored. */
export interface Executable {
  /** The resource `/rules/<name>` or `/procedures/<name>`. */
  readonly resource: string;
  readonly name: string;
  readonly program: Program;
  /** Source map of the program's module. */
  readonly map: string;
  readonly service: string | null;
  /** The identity that it runs with; a procedure of EXECUTE ASYNC has that of its event. */
  readonly identity: Identity;
  /** EXECUTE ASYNC: the procedure that gets the event's arguments; `program` is unused then. */
  readonly procedure?: string;
}
