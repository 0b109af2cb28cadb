// Computes the times of a cron pattern with five fields in a time zone. Croner parses the pattern and searches the times.
import { Cron, type CronOptions, CronPattern } from 'croner';
import { BadPattern, NeverDue, UnknownZone } from './unplanned.ts';

export interface Calendar {
  readonly cron: string;
  /** An IANA name. */
  readonly zone: string;
}

// Croner would search a thousand years, which takes seconds for patterns whose times all fall into skipped hours. A range of years, and bounds
// of the pattern, limit a search to about 20 ms.
const LONGEST = 200;
const MOST_NEAREST_WEEKDAYS = 5;
/** A date falls on a given weekday again within 12 years; 29 February, around 2100, within 40. */
const [DATE_YEARS, LEAP_DAY_YEARS] = [12, 40];
const LAST_YEAR = 9_999;
/** Lists and ranges count as fixed times when clocks change, as in Vixie cron: `30 2,14 * * *` has two times on every day. */
const FIXED_TIMES = { mode: '7-part', fixedTimeRule: 'no-wildcard' } as const;

/**
 * The first time after an instant, both in milliseconds since the epoch.
 * @throws BadPattern, UnknownZone, NeverDue
 */
export function nextByCalendar({ cron, zone }: Calendar, afterMs: number): number {
  const timezone = canonicalZone(zone);
  const pattern = fiveFields(cron);
  const year = new Date(afterMs).getUTCFullYear();
  const search = (lastYear: number, where: CronOptions): Date | null => {
    const years = `${year - 1}-${Math.min(lastYear, LAST_YEAR)}`; // croner takes years in patterns with seven fields only
    return new Cron(`0 ${pattern} ${years}`, { ...FIXED_TIMES, ...where }).nextRun(new Date(afterMs));
  };
  const somewhere = search(year + LEAP_DAY_YEARS, { utcOffset: 0 }); // a fixed offset skips no hour
  const next = somewhere && search(somewhere.getUTCFullYear() + DATE_YEARS, { timezone });
  if (!next) throw new NeverDue(`cron '${cron}' has no time in ${zone} within ${LEAP_DAY_YEARS} years`);
  return next.getTime();
}

/** The five fields of a pattern, in place of a name such as `@daily`. @throws BadPattern */
function fiveFields(cron: string): string {
  if (cron.length > LONGEST) throw new BadPattern(`cron is longer than ${LONGEST} characters`);
  const isName = /^\s*@\S*\s*$/.test(cron);
  if (!isName && (cron.match(/\S+/g) ?? []).length !== 5)
    throw new BadPattern(
      `cron '${cron}' has not five fields (minute, hour, day of month, month, day of week; there are no seconds), and is no name such as @daily`,
    );
  const { pattern, nearestWeekdays } = parsed(cron, isName);
  if (nearestWeekdays.filter(Boolean).length > MOST_NEAREST_WEEKDAYS)
    throw new BadPattern(`cron '${cron}' has more than ${MOST_NEAREST_WEEKDAYS} days with W`);
  return pattern;
}

function parsed(cron: string, isName: boolean): CronPattern {
  try {
    return new CronPattern(cron, undefined, { mode: '5-part' });
  } catch (error) {
    const reason = isName ? 'there is no such name' : messageOf(error).replace('CronPattern: ', '');
    throw new BadPattern(`cron '${cron}': ${reason}`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Croner caches a formatter for each zone name, so it gets one name for each zone. Offsets, which Intl accepts too, are refused. */
function canonicalZone(zone: string): string {
  try {
    if (/^[A-Za-z]/.test(zone)) return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    // The name is the only thing that Intl can refuse here.
  }
  throw new UnknownZone(`'${zone}' is not the name of a time zone, such as Europe/Berlin`);
}
