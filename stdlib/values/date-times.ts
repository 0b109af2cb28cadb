// DateTime from text and from numbers (resources-and-api.md 5.4, builtins.md 6.1).
import { DAY_MS, END_MS, FIRST_MS, daysFromCivil, daysInMonth } from './calendar.ts';
import { DateTime } from './kinds.ts';

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?$/;

/** No zone is UTC, no time is the start of the day, digits finer than milliseconds are cut off; null for anything else. */
export function parseDateTime(text: string): DateTime | null {
  const parts = ISO.exec(text);
  if (!parts) return null;
  const [
    ,
    yearText,
    monthText,
    dayText,
    hourText = '0',
    minuteText = '0',
    secondText = '0',
    fraction = '',
    sign,
    zoneHours = '0',
    zoneMinutes = '0',
  ] = parts;
  const year = Number(yearText);
  const month = Number(monthText);
  const day = Number(dayText);
  const hour = Number(hourText);
  const minute = Number(minuteText);
  const second = Number(secondText);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59 || Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return null;
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -60_000 : 60_000);
  const ms = fraction === '' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  return dateTimeOf(daysFromCivil(year, month, day) * DAY_MS + (hour * 60 + minute) * 60_000 + second * 1000 + ms - offset);
}

/** The DateTime of epoch milliseconds, of which -0 is 0, as Integers know no other; null outside 0001-01-01 … 9999-12-31 or where they are not whole. */
export function dateTimeOf(ms: number): DateTime | null {
  return ms >= FIRST_MS && ms < END_MS && Number.isInteger(ms) ? new DateTime(ms + 0) : null;
}
