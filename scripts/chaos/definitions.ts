// What the service under test is made to do: every kind of event, and rules with every kind of effect, each of which leaves a row behind
// that tells whose doing it is.

const WINDOW_SECONDS = 2;
export const LANES = ['left', 'middle', 'right'];
/** Rows that one bulk statement changes. */
export const BULK_ROWS = 30;
export const HOPS = 3;
/** Rows of the large bulk statements, a rule's and a client's: several commits. */
export const LARGE_ROWS = 3_000;

const text = { type: 'String', required: true };
const number = { type: 'Integer' };
const keyed = (name: string, key: string, properties: object) => ({
  name,
  naturalKey: [key],
  indexes: [{ keys: [key], options: { unique: true } }],
  properties: { [key]: text, ...properties },
});

export const TYPES: readonly object[] = [
  keyed('Order', 'key', { lane: text, checked: { type: 'Boolean' } }),
  keyed('Counter', 'name', { n: number }),
  keyed('Latest', 'lane', { key: text }),
  keyed('Heard', 'key', {}),
  { name: 'Effect', properties: { by: text, of: text, n: number } },
  { name: 'Link', properties: { of: text, hop: number } },
  { name: 'Part', indexes: [{ keys: ['of'] }], properties: { of: text, state: number } },
  { name: 'Old', properties: { n: number } },
];

/** Of the second one each message is brought again every second until it is acknowledged. */
export const TOPICS: readonly object[] = [
  { name: '/chaos/sure', isReliable: true, redeliveryFrequency: 3_600, redeliveryTTL: 7_200 },
  { name: '/chaos/again', isReliable: true, redeliveryFrequency: 1, redeliveryTTL: 7_200 },
];

export const RULES: readonly string[] = [
  'RULE checked BEFORE INSERT ON Order AS o  o.checked = true',
  'RULE noted WHEN INSERT OCCURS ON Order AS o  INSERT Effect(by: "noted", of: o.key)',
  `RULE counted WHEN INSERT OCCURS ON Order AS o
   SELECT ONE FROM Counter AS c WHERE name == o.lane
   UPDATE Counter(n: c.n + 1) WHERE _id == c._id`,
  `RULE several WHEN INSERT OCCURS ON Order AS o
   INSERT Effect(by: "first", of: o.key)
   PUBLISH { key: o.key } TO TOPIC "/chaos/told"
   INSERT Link(of: o.key, hop: 1)
   UPSERT Latest(lane: o.lane, key: o.key)
   SELECT ONE FROM Counter AS c WHERE name == "all"
   UPDATE Counter(n: c.n + 1) WHERE _id == c._id
   INSERT Effect(by: "last", of: o.key)`,
  `RULE carried WHEN INSERT OCCURS ON Order AS o
   SELECT ONE FROM Counter AS c WHERE name == "carried"
   INSERT Effect(by: "carried", of: o.key)
   UPDATE Counter(n: c.n + 1) WHERE _id == c._id`,
  `RULE hops WHEN INSERT OCCURS ON Link AS l WHERE l.hop < ${HOPS}  INSERT Link(of: l.of, hop: l.hop + 1)`,
  'RULE told WHEN EVENT OCCURS ON "/topics/chaos/told" AS t  INSERT Effect(by: "told", of: t.value.key)',
  'RULE mark WHEN EVENT OCCURS ON "/topics/chaos/mark" AS t  INSERT Effect(by: "mark", of: t.value.key)',
  'RULE planned WHEN EVENT OCCURS ON "/topics/chaos/planned" AS t  INSERT Effect(by: "planned", of: t.value.key)',
  `RULE sure WHEN EVENT OCCURS ON "/topics/chaos/sure" AS t
   INSERT Effect(by: "sure", of: t.value.key)
   Event.ack()`,
  `RULE again WHEN EVENT OCCURS ON "/topics/chaos/again" AS t
   UPSERT Heard(key: t.value.key)
   Event.ack()`,
  `RULE bulk WHEN EVENT OCCURS ON "/topics/chaos/bulk" AS t
   var parts = []
   FOR (i IN range(0, t.value.rows, 1)) { push(parts, {of: t.value.key, state: 0}) }
   INSERT Part(parts)
   var count = UPDATE Part(state: 1) WHERE of == t.value.key AND state == 0
   INSERT Effect(by: "bulk", of: t.value.key, n: count)`,
  'RULE erased WHEN DELETE OCCURS ON Old AS o  INSERT Effect(by: "erased", of: "old", n: o.count)',
  `RULE pair WHEN EVENT OCCURS ON "/topics/chaos/open" AS a BEFORE EVENT OCCURS ON "/topics/chaos/shut" AS b WITHIN 1 hour
   CONSTRAIN TO a.value.key == b.value.key
   INSERT Effect(by: "pair", of: a.value.key)`,
  `RULE window WHEN EVENT OCCURS ON "/topics/chaos/open" AS a BEFORE EVENT OCCURS ON "/topics/chaos/never" AS b WITHIN ${WINDOW_SECONDS} seconds
   log.info("never")
   TIMEOUT
   INSERT Effect(by: "window", of: a.value.key)`,
];

/** How many effects there are by each rule, links by hop, parts by state. */
export const TALLY = `PROCEDURE Chaos.tally()
var effects = SELECT by, n = count() FROM Effect GROUP BY by ORDER BY by
var links = SELECT hop, n = count() FROM Link GROUP BY hop ORDER BY hop
var counters = SELECT name, n FROM Counter ORDER BY name
return {effects: effects, links: links, counters: counters}`;
