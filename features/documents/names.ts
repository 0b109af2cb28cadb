// Names and content types of documents (resources-and-api.md 1.8, 4.8). Pure.
import { cutText } from '../../stdlib/values/index.ts';
import mime from 'mime';
import { apiError } from '../../model/errors/index.ts';

const MOST_BYTES = 1024;
const OF_THE_SERVICE = 'system/';
/** Prefix of documents that anyone may read without a token. */
export const PUBLIC = 'public/';
const UNKNOWN = 'application/octet-stream';
/** `type/subtype` with parameters, of characters that a header can hold. */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$%&'()*+,./:;<=>?@[\]^`{|}~-]*"))*$/;
const LONGEST_MEDIA_TYPE = 255;

/** @throws document.name.invalid, document.name.reserved */
export function checkDocumentName(name: string): void {
  const invalid = (reason: string) => apiError('cascade.document.name.invalid', cutText(name, MOST_BYTES), reason);
  if (name === '') throw invalid('it is empty');
  if (Buffer.byteLength(name) > MOST_BYTES) throw invalid(`more than ${MOST_BYTES} bytes`);
  if (name.startsWith('/')) throw invalid('it begins with /');
  if (name.includes('\0')) throw invalid('it has a NUL');
  if (!name.isWellFormed()) throw invalid('it has a lone surrogate');
  if (name.split('/').includes('..')) throw invalid('it has a segment ..');
  if (name.startsWith(OF_THE_SERVICE)) throw apiError('cascade.document.name.reserved', name, `${OF_THE_SERVICE} is the service's`);
}

export const isMediaType = (text: string): boolean => text.length <= LONGEST_MEDIA_TYPE && MEDIA_TYPE.test(text);

/** The content type by the name's extension, else the declared one, else that of arbitrary bytes. */
export function fileTypeOf(name: string, declaredType: string | null): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  const known = last.includes('.') ? mime.getType(last) : null;
  if (known !== null) return known;
  return declaredType !== null && isMediaType(declaredType) ? declaredType : UNKNOWN;
}

/** The media type without its parameters, in lower case. */
export const essence = (fileType: string): string => fileType.split(';', 1)[0]!.trim().toLowerCase();

const TEXT = new Set(['application/json', 'application/xml', 'application/javascript']);

/** Whether documents of this type are text in UTF-8; others are bytes. */
export const isText = (fileType: string): boolean => essence(fileType).startsWith('text/') || TEXT.has(essence(fileType));

/** What would end a path there, or mean something else in it. */
const NOT_IN_PATHS = /[%?#\\\p{Cc}]/gu;

/** The path that the content is fetched from: the name, with escapes for what cannot stand in a path as itself. */
export const contentPath = (name: string): string => `/docs/${name.replace(NOT_IN_PATHS, encodeURIComponent)}`;
