// Converts bytes to values and values to bytes, by their content type (integrations.md 1.6).
import { CascadeError, apiError } from '../../../model/errors/index.ts';
import { parseJson, toJson } from '../../../model/values/index.ts';
import { fromBase64, getOwn, isObject, parseXmlDocument, type Value } from '../../../stdlib/values/index.ts';
import { parseCsv, writeCsv } from './csv.ts';
import { ContentError } from './errors.ts';
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

/** @throws ContentError: the bytes do not fit the content type */
export function decodeContent(contentType: string, bytes: Uint8Array): Value {
  const kind = kindOf(contentType);
  if (kind === 'binary')
    return {
      contentType: mediaType(contentType) || 'application/octet-stream',
      size: bytes.length,
      base64: Buffer.from(bytes).toString('base64'),
    };
  const source = decodeText(contentType, bytes);
  switch (kind) {
    case 'json':
      return source.trim() === '' ? null : jsonOf(source);
    case 'xml':
      return xmlOf(source);
    case 'csv':
      return parseCsv(source);
    case 'form':
      return parseForm(source);
    default:
      return source;
  }
}

function decodeText(contentType: string, bytes: Uint8Array): string {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    throw new ContentError(`the charset ${charset.slice(0, 40)} is unknown`);
  }
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ContentError(`it is not ${charset.slice(0, 40)}`);
  }
}

function jsonOf(source: string): Value {
  try {
    return parseJson(source, { refuse: (reason, offset) => apiError('cascade.request.body.invalid', reason, offset) });
  } catch (error) {
    throw new ContentError(
      error instanceof CascadeError ? `it is no JSON: ${String(error.params[0])} at ${String(error.params[1])}` : 'it is no JSON',
    );
  }
}

function xmlOf(source: string): Value {
  try {
    return parseXmlDocument(source);
  } catch (error) {
    throw new ContentError(`it is no XML: ${error instanceof CascadeError ? String(error.params[0]) : 'unreadable'}`);
  }
}

/** @throws ContentError: the content type cannot hold the value */
export function encodeContent(contentType: string, value: Value): Buffer {
  switch (kindOf(contentType)) {
    case 'json':
      return Buffer.from(toJson(value));
    case 'xml':
      return Buffer.from(typeof value === 'string' ? value : writeXml(value));
    case 'csv':
      return Buffer.from(typeof value === 'string' ? value : writeCsv(value));
    case 'form':
      return Buffer.from(writeForm(value));
    case 'text':
      return Buffer.from(typeof value === 'string' ? value : toJson(value));
    default:
      return binaryOf(value);
  }
}

function binaryOf(value: Value): Buffer {
  const base64 = isObject(value) && Object.hasOwn(value, 'base64') ? getOwn(value, 'base64') : value;
  if (typeof base64 !== 'string') throw new ContentError('bytes are given as base64');
  const bytes = fromBase64(base64);
  if (typeof bytes === 'number') throw new ContentError(`it is no base64 at ${bytes}`);
  return Buffer.from(bytes);
}
