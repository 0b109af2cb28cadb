// What the place of a request tells: the isolate puts the way of calls before the statement's own number, each call with a slash behind it
// (stdlib/isolate/procedures.ts).

/** Procedures that are on the program's stack where it asks: 2 at `3/0/7`, 1 at `3/0/`, which is the call of a further one. */
export function callsAt(site: string): number {
  let calls = 0;
  for (let at = site.indexOf('/'); at >= 0 && at < site.length - 1; at = site.indexOf('/', at + 1)) calls++;
  return calls;
}
