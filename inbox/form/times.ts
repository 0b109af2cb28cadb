// Times as the service reads them (resources-and-api.md 5.4): the browser's own reading is another where there is no zone, and takes more.

const ISO = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(?:Z|([+-]\d\d)(?::?(\d\d))?)?$/;
const [FIRST, LAST] = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
const DAY_DIGITS = FIRST.indexOf('T');

/** Without a zone it is UTC, without a time the start of the day; null: the service does not take it. */
export function timeOf(text: string): Date | null {
  const [, day, time = '00:00', seconds = '00', fraction = '', zoneHours = '+00', zoneMinutes = '00'] = ISO.exec(text) ?? [];
  if (day === undefined || time.startsWith('24')) return null;
  const local = `${day}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  // Browsers make the second of March of the 30th of February.
  const at = new Date(`${local}Z`);
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, DAY_DIGITS) !== day) return null;
  const zoned = new Date(`${local}${zoneHours}:${zoneMinutes}`);
  return zoned.getTime() >= Date.parse(FIRST) && zoned.getTime() <= Date.parse(LAST) ? zoned : null;
}

/** @param text `yyyy-mm-dd` @returns whether there is such a day */
export const isDay = (text: string): boolean => text.length === DAY_DIGITS && timeOf(text) !== null;

/** The day on which a time is, in UTC. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, DAY_DIGITS);
