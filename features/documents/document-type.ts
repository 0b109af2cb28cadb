// The shape of a document, for conditions and storage.
import { systemType } from '../../resources/catalog/index.ts';

export const DOCUMENT_TYPE = systemType(
  'ArsDocument',
  { name: 'required unique String', fileType: 'String', content: 'String', contentSize: 'Integer' },
  ['name'],
);
