// Before each test file: random inputs are the same in every run, so that a test that passed passes again. CASCADE_SEED=random explores
// others, CASCADE_SEED=NUMBER is one that failed.
import fc from 'fast-check';

const wanted = process.env.CASCADE_SEED ?? '20260101';
const seed = wanted === 'random' ? Math.trunc(Math.random() * 2 ** 31) : Number(wanted);
if (!Number.isInteger(seed)) throw new Error(`CASCADE_SEED is "random" or a whole number, not ${wanted}`);
fc.configureGlobal({ seed });
