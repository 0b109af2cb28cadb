// Names of resources in a text with a PACKAGE and IMPORTs, or without them (language.md N6 to N8).
import type { Definition, Import, ImportKind } from '../ast.ts';
import type { Names } from './model.ts';
import type { Report } from './report.ts';

/** System resources keep their plain names inside a package. */
export const SYSTEM_RESOURCES: ReadonlySet<string> = new Set(
  (
    'audits collaborations configurations deadletters debugconfigs deployconfigs deploystatus documents groups logs namespaces nodes ' +
    'organizations procedures profiles projects rules scalars scheduledevents secrets services sources tokens topics types users'
  ).split(' '),
);

export const isSystemResource = (name: string): boolean => SYSTEM_RESOURCES.has(name);

export interface Imports {
  readonly package: string | null;
  readonly names: Names;
}

/** Checks package and imports and gives the names they lead to. */
export function namesOf(definition: Definition, report: Report): Imports {
  const prefix = definition.package?.name.text ?? null;
  if (definition.package && prefix !== null) checkPackage(definition.package.name, prefix, report);
  const aliases = new Map<string, { kind: ImportKind; target: string }>();
  for (const node of definition.imports) {
    if (prefix === null) report(node, 'cascade.lang.import', 'IMPORT needs a PACKAGE');
    const alias = aliasOf(node);
    const local = localNames(definition).get(alias) ?? (alias === 'log' && node.kind === 'service' ? 'always there' : undefined);
    if (aliases.has(alias)) report(node, 'cascade.lang.import', `'${alias}' is imported twice`);
    else if (local !== undefined) report(node, 'cascade.lang.import', `'${alias}' is ${local}`);
    aliases.set(alias, { kind: node.kind, target: node.target.type === 'String' ? node.target.value : node.target.text });
  }
  const imported = (kind: ImportKind, name: string): string | undefined => {
    const entry = aliases.get(name);
    return entry?.kind === kind ? entry.target : undefined;
  };
  const inPackage = (name: string): string => (prefix === null || name.includes('.') ? name : `${prefix}.${name}`);
  const service = (name: string): string => imported('service', name) ?? inPackage(name);
  const serviceEvent = (text: string): string => {
    const [, own, event] = /^\/?([^/]+)(\/[^/]*)$/.exec(text) ?? [];
    return own === undefined ? text : `${service(own)}${event}`;
  };
  const importedProcedure = (text: string): string | undefined => {
    const dot = text.indexOf('.');
    const of = dot < 0 ? undefined : imported('service', text.slice(0, dot));
    return imported('procedure', text) ?? (of && of + text.slice(dot));
  };
  const procedures = (text: string): string[] => {
    const meant = importedProcedure(text);
    if (meant !== undefined) return [meant];
    return prefix === null || text.startsWith('system.') || text.startsWith(`${prefix}.`) ? [text] : [text, `${prefix}.${text}`];
  };
  const names: Names = {
    type: (name) => imported('type', name) ?? (SYSTEM_RESOURCES.has(name) ? name : inPackage(name)),
    source: (name) => imported('source', name) ?? inPackage(name),
    // What begins with no slash is no name of a topic: it stays as it is written, and is refused as such.
    topic: (text) =>
      imported('topic', text) ?? (prefix === null || !text.startsWith('/') || text.startsWith(`/${prefix}/`) ? text : `/${prefix}${text}`),
    service,
    serviceEvent,
    importedProcedure,
    procedures,
  };
  return { package: prefix, names };
}

/** What a text itself gives a name to, with what that is. */
function localNames(definition: Definition): Map<string, string> {
  if (definition.type === 'Rule') return new Map([[definition.name.name, 'the name of this definition']]);
  const [service, ...rest] = definition.name.parts.map((part) => part.name);
  return new Map([
    ...definition.parameters.map((parameter) => [parameter.name.name, 'a parameter'] as const),
    ...(rest.length > 0 && service !== undefined ? [[service, 'the service of this procedure'] as const] : []),
    [definition.name.text, 'the name of this definition'],
  ]);
}

function checkPackage(at: { start: number; end: number }, name: string, report: Report): void {
  const reserved = /^(?:system|io\.service)(?:\.|$)/.test(name) || name.startsWith('system');
  if (reserved) report(at, 'cascade.lang.package.name', `'${name}' is reserved`);
  else if (!name.includes('.')) report(at, 'cascade.lang.package.name', 'a package name has two parts or more');
}

function aliasOf(node: Import): string {
  if (node.alias) return node.alias.name;
  if (node.target.type === 'String') return node.target.value;
  return node.target.parts.at(-1)?.name ?? node.target.text;
}
