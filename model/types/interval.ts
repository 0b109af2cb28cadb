// Intervals as definitions hold them: text of one interval literal, or milliseconds (language.md 1.1 Interval).

const UNIT_MS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/** `"30 days"` → milliseconds; null for other text. */
export function parseInterval(text: string): number | null {
  const [, count, unit] = /^\s*(\d{1,15})\s+([a-z]+?)s?\s*$/i.exec(text) ?? [];
  const unitMs = UNIT_MS[unit?.toLowerCase() ?? ''];
  if (count === undefined || unitMs === undefined) return null;
  const ms = Number(count) * unitMs;
  return Number.isSafeInteger(ms) ? ms : null;
}
