// Documents: files that users store.
import type { Feature } from '../../resources/catalog/index.ts';
import { DOCUMENTS } from './documents-type.ts';
import { duplicateDocument } from './duplicate.ts';

export const documents: Feature = { name: 'documents', instances: [DOCUMENTS], commands: { documents: { duplicate: duplicateDocument } } };
