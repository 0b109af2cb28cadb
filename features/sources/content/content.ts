// Converts bytes to values and values to bytes, by their content type (integrations.md 1.6).
import { CascadeError, apiError } from '../../../model/errors/index.ts';
import { atOnce, type InPieces } from '../../../model/types/index.ts';
import { parseForeignJsonInPieces, parseJson, toJson } from '../../../model/values/index.ts';
import { MOST_VALUES } from '../../../platform/egress/index.ts';
import { finishInSlices } from '../../../platform/structures/index.ts';
import {
  fromBase64,
  getOwn,
  isObject,
  JsonProblem,
  MAX_DATA_DEPTH,
  parseXmlDocumentInPieces,
  type Value,
} from '../../../stdlib/values/index.ts';
import { charsetOf, decodeText, encodeText } from './charset.ts';
import { parseCsv, writeCsv } from './csv.ts';
import { ContentError, ContentTooLarge } from './errors.ts';
import { parseForm, writeForm } from './form.ts';
import { writeXml } from './xml-text.ts';

type Kind = 'json' | 'xml' | 'csv' | 'text' | 'form' | 'binary';

/** The media type in lower case, without parameters. */
export const mediaType = (contentType: string): string => (contentType.split(';', 1)[0] as string).trim().toLowerCase();

export function kindOf(contentType: string): Kind {
  const type = mediaType(contentType);
  if (type === 'application/json' || type.endsWith('+json') || type === 'text/json') return 'json';
  if (type.endsWith('/xml') || type.endsWith('+xml')) return 'xml';
  if (type === 'text/csv') return 'csv';
  if (type.startsWith('text/')) return 'text';
  return type === 'application/x-www-form-urlencoded' ? 'form' : 'binary';
}

/** Whether it becomes many values, not one text. */
export const hasValues = (contentType: string): boolean => !['text', 'binary'].includes(kindOf(contentType));

/** From here on others have their turn while it is read. */
const LONG_BYTES = 64 * 1024;

/**
 * @param owner the namespace: a few long contents of one are read at a time
 * @throws ContentError: the bytes do not fit the content type; ContentTooLarge
 */
export async function decodeContent(owner: string, contentType: string, bytes: Uint8Array): Promise<Value> {
  const work = valueIn(contentType, bytes);
  return bytes.length < LONG_BYTES ? atOnce(work) : finishInSlices(owner, work);
}

function* valueIn(contentType: string, bytes: Uint8Array): InPieces<Value> {
  const kind = kindOf(contentType);
  if (kind === 'binary')
    return {
      contentType: mediaType(contentType) || 'application/octet-stream',
      size: bytes.length,
      base64: Buffer.from(bytes).toString('base64'),
    };
  const source = decodeText(bytes, charsetOf(contentType));
  switch (kind) {
    case 'json':
      return source.trim() === '' ? null : yield* jsonIn(source);
    case 'xml':
      return yield* xmlIn(source);
    case 'csv':
      return yield* parseCsv(source, MOST_VALUES);
    case 'form':
      return yield* parseForm(source, MOST_VALUES);
    default:
      return source;
  }
}

function* jsonIn(source: string): InPieces<Value> {
  try {
    if (source.length < LONG_BYTES) return parseJson(source, { maxValues: MOST_VALUES, refuse: wrongJson });
    return yield* parseForeignJsonInPieces(source, { maxDepth: MAX_DATA_DEPTH, maxValues: MOST_VALUES });
  } catch (error) {
    if (error instanceof JsonProblem) throw wrong('JSON', error.reason, ` at ${Buffer.byteLength(source.slice(0, error.index))}`);
    if (error instanceof CascadeError) throw wrong('JSON', String(error.params[0]), ` at ${String(error.params[1])}`);
    throw new ContentError('it is no JSON');
  }
}

const wrongJson = (reason: string, offset: number): CascadeError => apiError('cascade.request.body.invalid', reason, offset);

function* xmlIn(source: string): InPieces<Value> {
  try {
    return yield* parseXmlDocumentInPieces(source, MOST_VALUES);
  } catch (error) {
    throw wrong('XML', error instanceof CascadeError ? String(error.params[0]) : 'unreadable');
  }
}

const wrong = (what: string, reason: string, place = ''): ContentError =>
  reason === new ContentTooLarge(MOST_VALUES).message
    ? new ContentTooLarge(MOST_VALUES)
    : new ContentError(`it is no ${what}: ${reason}${place}`);

/** @throws ContentError: the content type, or its charset, cannot hold the value */
export function encodeContent(contentType: string, value: Value): Buffer {
  const kind = kindOf(contentType);
  return kind === 'binary' ? binaryOf(value) : encodeText(textIn(kind, value), charsetOf(contentType));
}

function textIn(kind: Exclude<Kind, 'binary'>, value: Value): string {
  if (kind === 'form') return writeForm(value);
  if (kind === 'json' || typeof value !== 'string') {
    if (kind === 'xml') return writeXml(value);
    return kind === 'csv' ? writeCsv(value) : toJson(value);
  }
  return value;
}

function binaryOf(value: Value): Buffer {
  const base64 = isObject(value) && Object.hasOwn(value, 'base64') ? getOwn(value, 'base64') : value;
  if (typeof base64 !== 'string') throw new ContentError('bytes are given as base64');
  const bytes = fromBase64(base64);
  if (typeof bytes === 'number') throw new ContentError(`it is no base64 at ${bytes}`);
  return Buffer.from(bytes);
}
