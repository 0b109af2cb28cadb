// CSV (RFC 4180): a header row, then records as Objects of Strings.
import { isObject, getOwn, type ObjectValue, setOwn, text, type Value } from '../../../stdlib/values/index.ts';
import { ContentError } from './errors.ts';

/** @throws ContentError for an unclosed quote, or a record with more fields than the header */
export function parseCsv(source: string): ObjectValue[] {
  const [header, ...records] = rowsOf(source);
  if (!header) return [];
  return records.map((record, i) => {
    if (record.length > header.length) throw new ContentError(`record ${i + 1} has ${record.length} fields, the header ${header.length}`);
    const object: ObjectValue = {};
    for (const [at, name] of header.entries()) setOwn(object, name, record[at] ?? null);
    return object;
  });
}

function rowsOf(source: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = source.startsWith('\ufeff') ? 1 : 0;
  while (at < source.length) {
    const [field, end] = fieldAt(source, at);
    row.push(field);
    at = end;
    if (source[at] === ',') {
      at++;
      if (at < source.length) continue;
      row.push(''); // the last field of the text is empty
    }
    rows.push(row);
    row = [];
    if (source[at] === '\r') at++;
    if (source[at] === '\n') at++;
  }
  return rows;
}

/** The field that begins at an offset, and the offset of its end. */
function fieldAt(source: string, from: number): [field: string, end: number] {
  if (source[from] !== '"') {
    let end = from;
    while (end < source.length && !',\r\n'.includes(source[end] as string)) end++;
    return [source.slice(from, end), end];
  }
  let field = '';
  for (let at = from + 1; ; ) {
    const quote = source.indexOf('"', at);
    if (quote < 0) throw new ContentError('a quote is not closed');
    field += source.slice(at, quote);
    if (source[quote + 1] !== '"') {
      if (quote + 1 < source.length && !',\r\n'.includes(source[quote + 1] as string))
        throw new ContentError('text behind a closing quote');
      return [field, quote + 1];
    }
    field += '"';
    at = quote + 2;
  }
}

/** Writes a CSV whose header is the keys of the first Object. @throws ContentError for anything but an array of Objects */
export function writeCsv(value: Value): string {
  if (!Array.isArray(value) || !value.every(isObject)) throw new ContentError('CSV is made of an array of Objects');
  const header = Object.keys(value[0] ?? {});
  const fields = (record: ObjectValue): string[] =>
    header.map((name) => {
      const member = Object.hasOwn(record, name) ? getOwn(record, name) : null;
      return member === null ? '' : text(member);
    });
  return [header, ...value.map(fields)].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

const quoted = (field: string): string => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
