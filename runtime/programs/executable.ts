// What a run carries out.
import type { Identity } from '../../identity/index.ts';
import type { Program } from '../../sandbox/index.ts';

/** A rule or procedure with the text it has now, or had when its event was stored. */
export interface Executable {
  /** `/rules/<name>` or `/procedures/<name>`. */
  readonly resource: string;
  readonly name: string;
  readonly program: Program;
  /** Source map of the program's module. */
  readonly map: string;
  readonly service: string | null;
  /** Whom it runs as; a procedure of EXECUTE ASYNC as whom its event is by. */
  readonly identity: Identity;
  /** EXECUTE ASYNC: the procedure that an event's arguments are for; `program` then has no part. */
  readonly procedure?: string;
}
