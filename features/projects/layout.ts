// The layout of project files (resources-and-api.md 11): folders, file names and the form of each file.

import { createHash } from 'node:crypto';

/** Folders of JSON files with one object each; an import loads these before programs and documents. */
export const JSON_BEFORE = ['scalars', 'types', 'profiles', 'groups', 'topics', 'sources', 'services', 'nodes'] as const;
export const PROGRAMS = ['procedures', 'rules'] as const;
export const isProgram = (folder: string): boolean => (PROGRAMS as readonly string[]).includes(folder);
export const JSON_AFTER = ['scheduledevents', 'configurations', 'debugconfigs', 'projects'] as const;
export const JSON_FOLDERS: readonly string[] = [...JSON_BEFORE, ...JSON_AFTER];
export const FOLDERS: readonly string[] = [...JSON_FOLDERS, ...PROGRAMS, 'documents', 'data'];

export type Members = Record<string, unknown>;

declare global {
  interface JSON {
    rawJSON(text: string): unknown;
    isRawJSON(value: unknown): boolean;
  }
}

/** Parses JSON and keeps the digits of integers that a JavaScript number would round; `JSON.stringify` writes them unchanged. */
export const parseExact = (text: string): unknown => JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown) as unknown;

const keepDigits = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? JSON.rawJSON(source)
    : value;

/** Members that the service sets or computes. */
const LEFT_OUT = new Set(
  (
    '_id ars_namespace ars_version ars_createdAt ars_createdBy ars_modifiedAt ars_modifiedBy ' +
    'errors compileWarnings triggers state isUnavailable indexBuilds'
  ).split(' '),
);

/** Whether a resource belongs to the service, and so to no project. */
export function isOwn(folder: string, name: string): boolean {
  if (folder === 'types') return /^Ars[A-Z]/.test(name);
  if (folder === 'nodes') return name === 'self';
  if (folder === 'profiles') return name === 'user' || name === 'admin';
  return false;
}

/** A definition as project files have it: without members of the service, and without unset members. */
export function written(object: Members): Members {
  const kept = Object.entries(object).filter(([key, value]) => !LEFT_OUT.has(key) && value !== null && !isNextTick(key, object));
  return Object.fromEntries(kept);
}

/** Whether a member is the next time of a scheduled event with `cron`, which the service computes. */
const isNextTick = (key: string, { cron, periodic }: Members): boolean =>
  key === 'occursAt' && periodic === true && typeof cron === 'string';

/** JSON with sorted members, indented by two blanks, with a newline at the end. */
export const toText = (value: unknown): string => `${JSON.stringify(sorted(value), null, 2)}\n`;

/** Values that mean "not set" in older files (11). */
const EMPTY: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['maxStorage', 0],
  ['maxObjects', 0],
  ['activationConstraint', ''],
]);

/** A text that is equal for equal definitions, regardless of the order of members and of unset members. */
export function canonical(object: Members): string {
  const set = Object.entries(written(object)).filter(([key, value]) => !EMPTY.has(key) || EMPTY.get(key) !== value);
  return JSON.stringify(sorted(Object.fromEntries(set)));
}

const FLAGS = new Set(['multi', 'array', 'required', 'unique', 'indexed', 'encrypted']);

/** A type without the flags of its properties that are not set: a type keeps its properties as they were written. */
export function withoutUnset(type: Members): Members {
  const { properties } = type;
  if (typeof properties !== 'object' || properties === null) return type;
  const isSet = ([attribute, value]: [string, unknown]): boolean => !FLAGS.has(attribute) || (value !== false && value !== null);
  const each = Object.entries(properties).map(([name, one]): [string, unknown] => [
    name,
    typeof one === 'object' && one !== null ? Object.fromEntries(Object.entries(one).filter(isSet)) : one,
  ]);
  return { ...type, properties: Object.fromEntries(each) };
}

/** The members to send: unset ones are omitted. */
export const toSend = (object: Members): Members => parseExact(canonical(object)) as Members;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted((value as Members)[name])]));
}

/** Bytes that file systems allow in a name. */
const MOST_OF_A_NAME = 255;

/**
 * The path of each resource's file below its folder. Topics and documents are in nested folders; characters that file systems refuse are
 * percent-escaped. No two resources have one path, and no file lies where another one needs a folder.
 */
export function filesOf(folder: string, names: readonly string[]): ReadonlyMap<string, string> {
  const places = new Map(names.map((name) => [name, placeOf(folder, name)]));
  const counts = new Map<string, number>();
  for (const place of places.values()) counts.set(place, (counts.get(place) ?? 0) + 1);
  const isFile = (place: string): boolean => counts.has(place);
  return new Map(
    [...places].map(([name, place]) => {
      // Only names of procedures meet: `a.b_c` and `a_b.c`. What counts of a program is the name in its text (11).
      const own = (counts.get(place) ?? 0) > 1 ? `${escaped(name).replaceAll('.', '%2E')}${EXTENSIONS[folder] ?? '.json'}` : place;
      return [name, withoutFolders(own, isFile)];
    }),
  );
}

const EXTENSIONS: Readonly<Record<string, string>> = { rules: '.rule', procedures: '.procedure', documents: '' };

/** The path of a resource's file, as if no other resource were there. */
function placeOf(folder: string, name: string): string {
  if (folder === 'documents') return documentPlace(name);
  const extension = EXTENSIONS[folder] ?? '.json';
  const plain = folder === 'topics' ? name.replace(/^\//, '') : folder === 'procedures' ? name.replaceAll('.', '_') : name;
  const parts = (folder === 'topics' ? plain.split('/') : [plain]).map(escaped);
  const last = parts.pop() ?? '';
  return [...parts, `${shortened(last, MOST_OF_A_NAME - extension.length, name)}${extension}`].join('/');
}

/** A name that fits, and is still its own: the name in the file is what counts. */
const shortened = (part: string, most: number, name: string): string =>
  part.length <= most
    ? part
    : `${part.slice(0, most - 33).replace(/%.?$/, '')}~${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;

/** The path of a document determines its name, so a slash before another one, or at the end, is escaped. */
const documentPlace = (name: string): string =>
  name
    .split('/')
    .map(escaped)
    .reduce((path, part) => (part === '' ? `${path}%2F` : `${path}/${part}`));

/** The path with no folder where another resource has its file: the slash behind it is escaped. */
function withoutFolders(place: string, isFile: (place: string) => boolean): string {
  const [first = '', ...others] = place.split('/');
  let [path, before] = [first, first];
  for (const part of others) {
    path += `${isFile(before) ? '%2F' : '/'}${part}`;
    before += `/${part}`;
  }
  return path;
}

const escaped = (part: string): string =>
  part.replace(/[<>:"/\\|?*%\p{Cc}]|^\.+$|^\.|[. ]$/gu, (found) =>
    [...Buffer.from(found)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

export function documentName(file: string): string {
  try {
    return decodeURIComponent(file.replace(/%(?![0-9A-Fa-f]{2})/g, '%25'));
  } catch {
    return file; // invalid escapes: the path is the name itself
  }
}

/** The name in a program's text; null where it has none. */
export function programName(text: string): string | null {
  const bare = text
    .replace(/^\uFEFF/, '')
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/\/\/.*$/gm, '');
  return /^\s*(?:[A-Z]+\s+)*?(?:RULE|PROCEDURE)\s+([A-Za-z_][\w.]*(?::[\w.-]+)?)/im.exec(bare)?.[1] ?? null;
}
