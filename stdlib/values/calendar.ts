// The proleptic Gregorian calendar in UTC, by arithmetic: days, years, months, and the ISO text of an instant.

export const DAY_MS = 86_400_000;
/** 0001-01-01 and the first instant after 9999-12-31: what may be stored (resources-and-api.md 5.4). */
export const FIRST_MS = -62_135_596_800_000;
export const END_MS = 253_402_300_800_000;

export interface Civil {
  year: number;
  /** 1-12 */
  month: number;
  /** 1-31 */
  day: number;
}

/** The date of a day counted from 1970-01-01. */
export function civilFromDays(days: number): Civil {
  const shifted = days + 719_468; // since 0000-03-01, so that the leap day ends its year
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** The day counted from 1970-01-01; the inverse of `civilFromDays`. Month and day are in their ranges. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

const two = (n: number): string => (n < 10 ? `0${n}` : String(n));

/** `yyyy-MM-ddTHH:mm:ss.SSSZ`; years outside 1-9999 as JavaScript writes them. */
export function formatDateTime(ms: number): string {
  if (!(ms >= FIRST_MS && ms < END_MS)) return new Date(ms).toISOString();
  const days = Math.floor(ms / DAY_MS);
  const { year, month, day } = civilFromDays(days);
  const rest = ms - days * DAY_MS;
  const milliseconds = rest % 1000;
  const seconds = (rest - milliseconds) / 1000;
  const minutes = Math.floor(seconds / 60);
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  const time = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${date}T${time}.${milliseconds < 100 ? `0${two(milliseconds)}` : milliseconds}Z`;
}
