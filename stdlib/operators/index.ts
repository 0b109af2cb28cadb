// The door of the operators: what the emitted code and the conditions compute and compare with.
export { add, dec, div, inc, mod, mul, neg, pos, pow, sub } from './arithmetic.ts';
export { type Comparison, eq, ge, gt, le, lt, ne } from './comparison.ts';
export { deepEquals } from './deep-equals.ts';
export { equalForm, equalText } from './equal-form.ts';
export { geo } from './geo.ts';
export { inArray, regexSearch } from './membership.ts';
export { not, truth } from './truth.ts';
