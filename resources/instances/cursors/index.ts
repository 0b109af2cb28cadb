// The door of cursors/: results that programs read page by page.
export { CURSORS, type WalkPage } from './cursors.ts';
