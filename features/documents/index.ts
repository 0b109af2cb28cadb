// The door of documents (resources-and-api.md 4.8): files that users store in their namespace, with streamed uploads and downloads.
export { DOCUMENTS } from './documents-type.ts';
export { CONTENT_COLLECTIONS, contentFilter, dropContents, ensureContentCollections, sweepContents } from './content-store.ts';
export { digestOfDocument, type ListedDocument, listDocuments, readDocument, readInPieces } from './read-document.ts';
export { requireSavable, saveDocument } from './save-document.ts';
export { documents } from './feature.ts';
