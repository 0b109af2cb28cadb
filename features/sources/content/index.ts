// The door of content types: JSON, XML, text, CSV, forms and bytes, in both directions.
export { charsetOf, encodeText } from './charset.ts';
export { decodeContent, encodeContent, hasValues, kindOf, mediaType } from './content.ts';
export { ContentError, ContentTooLarge } from './errors.ts';
export { encodePairs, pairsOf } from './form.ts';
