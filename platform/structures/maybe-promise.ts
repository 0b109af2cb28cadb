// A value, or a promise of it: what is mostly in memory is returned as it is, since a promise on the hot path costs more than the check.

export type MaybePromise<T> = T | Promise<T>;
