// What the text of a regular expression says before an engine is made of it.
export { instructionsIn } from './size.ts';
export { translatePattern } from './syntax.ts';
