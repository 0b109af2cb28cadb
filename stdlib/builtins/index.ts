// The door of the built-ins: who they are (for the compiler and the documentation) and how they are called (for the driver).
import type { BuiltinTable } from '../../compiler/types.ts';
import { aggregates } from './aggregates.ts';
import { arrays } from './arrays.ts';
import { codecs } from './codecs.ts';
import { collaboration } from './collaboration.ts';
import { type Completion, completionsOf } from './completions.ts';
import { dates } from './dates.ts';
import { events } from './events.ts';
import { exceptions } from './exceptions.ts';
import { format } from './format.ts';
import { general } from './general.ts';
import { geo } from './geo.ts';
import { identity } from './identity.ts';
import { installation } from './installation.ts';
import { intervals } from './intervals.ts';
import { logging } from './logging.ts';
import { math } from './math.ts';
import { notifications } from './notifications.ts';
import { numbers } from './numbers.ts';
import { objects } from './objects.ts';
import { patterns } from './patterns.ts';
import { recommend } from './recommend.ts';
import { references } from './references.ts';
import { type Builtin, Registry } from './registry.ts';
import { resourceApi } from './resource-api.ts';
import { sharedObjects } from './shared-objects.ts';
import { strings } from './strings.ts';
import { templates } from './templates.ts';
import { tokens } from './tokens.ts';
import { xml } from './xml.ts';

export type { BuiltinContext, RunFacts } from './context.ts';
export type { HostDeclaration } from './declaration.ts';
export { type Accumulator, type AggregateName, accumulator } from './aggregates.ts';
export { toExceptionObject } from './exceptions.ts';
export { formatMessage } from './format.ts';
export { formatLogMessage } from './logging.ts';
export { Matcher } from './patterns.ts';
export { positionOf } from './signature.ts';
export { documentReference } from './documents.ts';
export { DIGESTS } from './digests.ts';
export { callText, type Completion } from './completions.ts';
export type { Builtin, Overload } from './registry.ts';

const REGISTRY = new Registry([
  strings,
  format,
  patterns,
  numbers,
  dates,
  intervals,
  arrays,
  objects,
  geo,
  codecs,
  xml,
  references,
  tokens,
  templates,
  general,
  exceptions,
  math,
  aggregates,
  logging,
  identity,
  resourceApi,
  recommend,
  events,
  notifications,
  collaboration,
  installation,
  sharedObjects,
]);

/** Made at the first question, as it is asked for at every compilation. */
let table: BuiltinTable | undefined;

/** The package that some services of the built-ins stand in. */
const PACKAGE = 'io.service.';
/** Services that can be named without it, too. */
const ALSO_PACKAGED = /^(?:ResourceConfig|Test)\./;

function packaged(): BuiltinTable {
  const named = new Map(REGISTRY.table());
  for (const [name, info] of REGISTRY.table()) if (ALSO_PACKAGED.test(name)) named.set(PACKAGE + name, info);
  return named;
}

/**
 * Makes the services of the built-ins' package reachable under other packages, too: the setting `builtinPackageAliases` of an installation
 * (builtins.md C9). To be called before anything is compiled.
 * @param prefixes packages without a dot at the end; those of a call before are forgotten
 */
export function aliasBuiltinPackage(prefixes: readonly string[]): void {
  const aliased = new Map(packaged());
  for (const [name, info] of packaged())
    if (name.startsWith(PACKAGE)) for (const prefix of prefixes) aliased.set(`${prefix}.${name.slice(PACKAGE.length)}`, info);
  table = aliased;
}

/** What the compiler must know; keys as programs write them: `trim`, `Math.abs`. */
export function builtinTable(): BuiltinTable {
  table ??= packaged();
  return table;
}

/** Whether a service is one of the built-ins' own: no service of a user has its name (builtins.md C8). */
export function isBuiltinService(service: string): boolean {
  const prefix = `${service}.`;
  for (const name of builtinTable().keys()) if (name.lastIndexOf('.') === service.length && name.startsWith(prefix)) return true;
  return false;
}

/** The built-in of a name, by which it is called; undefined when there is none. */
export function lookup(name: string): Builtin | undefined {
  return REGISTRY.get(name);
}

/** All of them, for the documentation. */
export function allBuiltins(): Iterable<Builtin> {
  return REGISTRY.all();
}

/** What an editor offers where a name begins so; all of them for an empty one. */
export function completions(prefix: string): Completion[] {
  return completionsOf(REGISTRY.all(), prefix);
}
