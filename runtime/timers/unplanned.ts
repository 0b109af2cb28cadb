// The reasons to refuse a schedule.

/** A schedule that is ambiguous or incomplete. */
export class Unplanned extends Error {}
/** A schedule whose time has passed. */
export class Past extends Unplanned {}
/** A schedule with an invalid cron pattern. */
export class BadPattern extends Unplanned {}
/** A schedule with an unknown time zone. */
export class UnknownZone extends Unplanned {}
/** A schedule whose pattern matches no time. */
export class NeverDue extends Unplanned {}
