// The outcome, computed from the file alone and without the service: what the rules and the summary must come to.
import type { Feature } from './quakes.ts';

export interface NetworkSummary {
  network: string;
  alerts: number;
  strongest: number;
  total: string;
  mean: string;
}

export interface Summary {
  quakes: number;
  alerts: number;
  levels: { notice: number; warning: number; severe: number };
  networks: NetworkSummary[];
}

export interface ExpectedAlert {
  quake: string;
  network: string;
  magnitude: number;
  level: 'notice' | 'warning' | 'severe';
  region: string;
  at: string;
}

export function expectedAlerts(features: readonly Feature[]): ExpectedAlert[] {
  return features
    .filter(({ properties: { mag, type } }) => type === 'earthquake' && mag >= 2.5)
    .map(({ id, properties: { mag, place, time, net } }) => ({
      quake: id,
      network: net.toUpperCase(),
      magnitude: mag,
      level: mag >= 6 ? ('severe' as const) : mag >= 4.5 ? ('warning' as const) : ('notice' as const),
      region: place.slice(place.lastIndexOf(',') + 1).trim(),
      at: new Date(time).toISOString(),
    }))
    .sort((a, b) => (a.quake < b.quake ? -1 : 1));
}

export function expectedSummary(features: readonly Feature[]): Summary {
  const alerts = expectedAlerts(features);
  const levels = { notice: 0, warning: 0, severe: 0 };
  for (const { level } of alerts) levels[level]++;
  const names = [...new Set(alerts.map(({ network }) => network))].sort();
  const networks = names.map((network) => {
    const magnitudes = alerts.filter((alert) => alert.network === network).map(({ magnitude }) => magnitude);
    const count = BigInt(magnitudes.length);
    const total = magnitudes.reduce((sum, magnitude) => sum + hundredths(magnitude), 0n);
    const mean = (2n * total + count) / (2n * count); // half up
    return { network, alerts: magnitudes.length, strongest: Math.max(...magnitudes), total: decimal(total), mean: decimal(mean) };
  });
  return { quakes: features.length, alerts: alerts.length, levels, networks };
}

/** From the digits as they are written, rounded half up: sums of doubles would depend on the order. */
function hundredths(magnitude: number): bigint {
  const [whole = '0', fraction = ''] = String(magnitude).split('.');
  const digits = `${fraction}000`;
  return BigInt(whole) * 100n + BigInt(digits.slice(0, 2)) + (digits[2]! >= '5' ? 1n : 0n);
}

function decimal(hundredfold: bigint): string {
  const digits = String(hundredfold).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
