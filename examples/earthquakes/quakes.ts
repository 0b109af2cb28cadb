// The 1,707 seismic events of one week (USGS, February 2018) from the package vega-datasets, as instances of Quake to be inserted.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export interface Feature {
  readonly id: string;
  readonly properties: { readonly mag: number; readonly place: string; readonly time: number; readonly net: string; readonly type: string };
  readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly number[] };
}

export function readFeatures(): Feature[] {
  const file = createRequire(import.meta.url).resolve('vega-datasets/data/earthquakes.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { features: Feature[] }).features;
}

/** What the loader sends: the rule normaliseQuake makes the rest of it. */
export function toQuake({ id, properties, geometry }: Feature): object {
  const { mag, place, time, net, type } = properties;
  return { code: id, magnitude: mag, place: ` ${place} `, at: time, network: net, kind: type, location: geometry };
}

/** The same rows in an order that the seed decides (Fisher and Yates, with a small generator of numbers). */
export function shuffled<T>(rows: readonly T[], seed: number): T[] {
  const result = [...rows];
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  for (let index = result.length - 1; index > 0; index--) {
    const other = below(index + 1);
    [result[index], result[other]] = [result[other]!, result[index]!];
  }
  return result;
}
