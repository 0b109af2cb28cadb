// How much of what has many repetitions a run tries: `npm test` a few, the nightly run (`CASCADE_TESTS=whole`) all.
const wanted = process.env['CASCADE_TESTS'] ?? 'day';
if (wanted !== 'day' && wanted !== 'whole') throw new Error(`CASCADE_TESTS is "day" or "whole", not ${wanted}`);

export const amount = (byDay: number, whole: number): number => (wanted === 'whole' ? whole : byDay);
