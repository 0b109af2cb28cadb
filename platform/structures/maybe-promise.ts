// A value that is there already, or will be. What mostly is there is asked for this way where each request asks for it: a promise that
// nobody waits for costs more than the question.

export type MaybePromise<T> = T | Promise<T>;
