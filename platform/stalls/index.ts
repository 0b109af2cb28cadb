// What keeps the main thread from everything else: noticed, named, told of.
export { type Cause, type Stall, Stalls } from './stalls.ts';
