// CSV (RFC 4180): a header row, then records as Objects of Strings.
import { isObject, getOwn, type ObjectValue, setOwn, text, type Value } from '../../../stdlib/values/index.ts';
import type { InPieces } from '../../../model/types/index.ts';
import { ContentError, ContentTooLarge } from './errors.ts';

/**
 * Gives way after each few fields.
 * @param mostValues fields and records that the result may have
 * @throws ContentError for an unclosed quote, or a record with more fields than the header; ContentTooLarge
 */
export function* parseCsv(source: string, mostValues: number): InPieces<ObjectValue[]> {
  let header: readonly string[] | null = null;
  const records: ObjectValue[] = [];
  let values = 0;
  for (const row of rowsOf(source)) {
    if (row === undefined) {
      yield;
      continue;
    }
    if (!header) {
      header = row;
      continue;
    }
    const number = records.length + 1;
    if (row.length > header.length) throw new ContentError(`record ${number} has ${row.length} fields, the header ${header.length}`);
    if ((values += 1 + header.length) > mostValues) throw new ContentTooLarge(mostValues);
    const record: ObjectValue = {};
    for (const [at, name] of header.entries()) setOwn(record, name, row[at] ?? null);
    records.push(record);
  }
  return records;

  /** The rows; undefined where the work may give way. */
  function* rowsOf(text: string): Generator<string[] | undefined> {
    let row: string[] = [];
    let fields = 0;
    let at = text.startsWith('\ufeff') ? 1 : 0;
    while (at < text.length) {
      const [field, end] = fieldAt(text, at);
      row.push(field);
      if (row.length > mostValues) throw new ContentTooLarge(mostValues);
      if (++fields % PIECE_FIELDS === 0) yield undefined;
      at = end;
      if (text[at] === ',') {
        at++;
        if (at < text.length) continue;
        row.push(''); // the last field of the text is empty
      }
      yield row;
      row = [];
      if (text[at] === '\r') at++;
      if (text[at] === '\n') at++;
    }
  }
}

const PIECE_FIELDS = 256;

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
