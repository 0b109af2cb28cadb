// What a few texts become. A change of the emitter shows here first; what the code does is held by stdlib/isolate's tests.
import { expect, test } from 'vitest';
import { compile } from '../index.ts';
import type { BuiltinInfo, CompiledModule, CompiledRule } from '../types.ts';

const builtin = (name: string, forms: string, params: string[]): [string, BuiltinInfo] => [
  name,
  { name, forms, params: params.map((param) => ({ name: param })), effect: 'pure' },
];
const builtins = new Map([
  builtin('trim', 'FM', ['str']),
  builtin('log.info', 'S', ['message', 'args']),
  builtin('sum', 'F', ['path']),
  builtin('max', 'F', ['path']),
]);
const moduleOf = (text: string): CompiledModule => {
  const compiled = compile(text, { builtins });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return compiled.unit.module;
};
/** The functions of the module, without the constants before them. */
const functionsOf = (text: string): string => {
  const { source } = moduleOf(text);
  return source
    .slice(source.search(/\n {2}function/), source.lastIndexOf('\n  return '))
    .replace(/^\n| {2}(?= *)/gm, (part) => (part === '\n' ? '' : part));
};

test('a rule: literals are lifted, the last effect is marked', () => {
  const text = 'RULE r WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 90 INSERT Alarm(pump: p._id, level: 5.0, why: "high")';
  expect(moduleOf(text).constants).toBe('["\\u0001r5","high"]');
  expect(functionsOf(text)).toMatchInlineSnapshot(`
    "  function* main($, v_p) {
        yield* $op($, 0, "insert", {
          resource: "Alarm",
          values: {
            pump: $get(v_p, "_id", "p"),
            level: $.k[0],
            why: $.k[1]
          },
          series: false,
          options: {}
        }, true);
      }"
  `);
});

test('what a rule reads of its event is known where it only reads members', () => {
  const reads = (body: string, trigger = 'INSERT OCCURS ON Pump AS p'): unknown => moduleOf(`RULE r WHEN ${trigger} ${body}`).reads;
  expect(reads('var x = p.rate + p.site.name  for (y in p.list) { x = p.rate }')).toEqual(['list', 'rate', 'site']);
  expect(reads('var x = 1')).toEqual([]);
  for (const body of ['p.rate = 1', 'var x = p', 'p = null', 'p.trim()', 'var x = p["rate"]', 'for (x in p) { }', 'INSERT A(p: p)'])
    expect([body, reads(body)]).toEqual([body, null]);
  expect(reads('var x = q => p.rate', 'INSERT OCCURS ON Pump AS p OR INSERT OCCURS ON Tank AS p')).toEqual(['rate']);
  const topic = 'EVENT OCCURS ON "/topics/a" AS e';
  expect(reads('var x = e.value.n + e.newValue.m', topic)).toEqual(['m', 'n']);
  for (const body of ['var x = e.uuid', 'var x = e.value', 'e.value.n = 1']) expect([body, reads(body, topic)]).toEqual([body, null]);
  expect(reads('var x = a.n + b.n', 'INSERT OCCURS ON A AS a AND INSERT OCCURS ON B AS b WITHIN 1 hour')).toBe(null);
});

test('rules that differ in literals only share their module', () => {
  const text = (n: string, s: string, topic: string): string =>
    `RULE r WHEN INSERT OCCURS ON Pump AS p if (p.a["x"].b > ${n}) { PUBLISH {s: ${s}} TO TOPIC "${topic}" }`;
  const [one, other] = [moduleOf(text('1', '"s"', '/t')), moduleOf(text('-2.5', '1', '/u/v'))];
  expect(one.source).toBe(other.source);
  expect(one.constants).not.toBe(other.constants);
});

test('a body that neither asks nor loops is a plain function', () => {
  expect(functionsOf('PROCEDURE f(a, b)\nvar x = a.trim()\nif (x == b || !a) { return {n: 1} } else { x += "!" }')).toMatchInlineSnapshot(`
    "  function main($, v_a, v_b) {
        let v_x = null;
        v_x = m_trim($, $receiver(v_a, "a"));
        if ($eq(v_x, v_b) || !$truth(v_a)) {
          return $made($, 48, {
            n: 1
          });
        } else {
          return v_x = $add(v_x, "!");
        }
      }"
  `);
});

test('a loop can be halted at each turn', () => {
  expect(functionsOf('PROCEDURE f(list)\nvar t = 0\nfor (x in list until t > 9) { t += x.n }\nreturn t')).toMatchInlineSnapshot(`
    "  function* main($, v_list) {
        let v_t = null;
        v_t = 0;
        const $i0 = $iterate($, v_list);
        try {
          while ($step($i0) || (yield* $pull($, $i0))) {
            if (--$.fuel < 0) yield* $slice($);
            let v_x = $value($i0);
            if ($gt(v_t, 9)) {
              yield* $close($, $i0);
              break;
            }
            v_t = $add(v_t, $get(v_x, "n", "x"));
          }
        } catch ($e1) {
          yield* $left($, $i0, $e1);
        }
        return v_t;
      }"
  `);
});

test('TRY lets limits pass', () => {
  expect(functionsOf('PROCEDURE f(a)\ntry { g(a) } catch (e) { e.code } finally { log.info("x") }')).toMatchInlineSnapshot(`
    "  function* main($, v_a) {
        try {
          try {
            return yield* $call($, 0, "g", [v_a], null);
          } catch ($e0) {
            let v_e = $caught($, $e0);
            return $get(v_e, "code", "e");
          }
        } catch ($e1) {
          $passed($, $e1);
        } finally {
          if ($live($)) {
            b_log_info($, "x");
          }
        }
      }"
  `);
});

test('MAP and FILTER are closures that run when an element is wanted', () => {
  expect(functionsOf('PROCEDURE f(a)\nMAP (x in SELECT n FROM T WHERE n > a until x.n > 9) { INSERT U(n: x.n) }')).toMatchInlineSnapshot(`
    "  function main($, v_a) {
        return $map($, $rows($, 0, {
          resource: "T",
          where: {
            n: {
              "$gt": v_a
            }
          },
          props: ["n"],
          orderBy: [],
          cardinality: "sequence",
          options: {}
        }), function* (v_x) {
          return yield* $op($, 1, "insert", {
            resource: "U",
            values: {
              n: $get(v_x, "n", "x")
            },
            series: false,
            options: {}
          }, false);
        }, v_x => {
          return $gt($get(v_x, "n", "x"), 9);
        }, 1);
      }"
  `);
});

test('user calls behind && still run', () => {
  expect(functionsOf('PROCEDURE f(a)\na != null && g(a.x) > 3')).toMatchInlineSnapshot(`
    "  function* main($, v_a) {
        return $ne(v_a, null) ? $gt(yield* $call($, 0, "g", [$get(v_a, "x", "a")], null), 3) : (yield* $call($, 1, "g", [$get(v_a, "x", "a")], null), false);
      }"
  `);
});

test('the TIMEOUT section is a function of its own', () => {
  const { source } = moduleOf('RULE r WHEN INSERT OCCURS ON A EXPECT WITHIN 1 hour log.info("came") TIMEOUT log.info("late")');
  expect(source).toContain('function timeout($, v_A)');
  expect(source.trimEnd()).toMatch(/return \[main, timeout\];\n\}\)$/);
});

test('conditions of queries become where-objects', () => {
  expect(functionsOf('PROCEDURE f(a)\nDELETE T WHERE T.n == a AND (NOT (m > 1) OR k.l in [2]) AND on')).toMatchInlineSnapshot(`
    "  function* main($, v_a) {
        return yield* $op($, 0, "delete", {
          resource: "T",
          where: {
            "$and": [{
              n: {
                "$eq": v_a
              }
            }, {
              "$or": [{
                "$nor": [{
                  m: {
                    "$gt": 1
                  }
                }]
              }, {
                "k.l": {
                  "$in": $made($, 48, [2])
                }
              }]
            }, {
              on: {
                "$eq": true
              }
            }]
          },
          options: {}
        }, false);
      }"
  `);
});

test('an aggregate has the name that it is bound to, one inside an expression a hidden name', () => {
  expect(functionsOf('PROCEDURE f()\nreturn SELECT site, total = sum(n), half = max(m) / 2 FROM T GROUP BY site')).toMatchInlineSnapshot(`
    "  function* main($) {
        return $project(yield* $op($, 0, "select", {
          resource: "T",
          where: {},
          props: null,
          aggregates: {
            total: ["sum", "n"],
            ars_aggregate0: ["max", "m"]
          },
          groupBy: ["site"],
          orderBy: [],
          cardinality: "array",
          options: {}
        }, false), $row0 => {
          return {
            site: $get($row0, "site", "the row"),
            total: $get($row0, "total", "the row"),
            half: $div($get($row0, "ars_aggregate0", "the row"), 2)
          };
        });
      }"
  `);
});

test('the parameter of a lambda hides the name of the row', () => {
  const source = functionsOf('PROCEDURE f()\nreturn SELECT x = c.n, y = c => c.n, z = c FROM T AS c');
  expect(source).toContain('x: $get($row0, "n", "the row")');
  expect(source).toContain('y: (v_c = null) => $get(v_c, "n", "c")');
  expect(source).toContain('z: $get($row0, "c", "the row")');
});

test('rows of a source are pulled in a loop', () => {
  expect(functionsOf('PROCEDURE f()\nfor (x in SELECT FROM SOURCE s WITH q = 1) { }')).toContain(
    '$iterate($, $sourceRows($, 0, {\n      source: "s",\n      request: {\n        q: 1\n      }\n    }))',
  );
});

test('the effect that a rule returns is its last one', () => {
  for (const [body, tail] of [
    ['return DELETE T WHERE {}', true],
    ['DELETE T WHERE {} return 1', false],
  ] as const)
    expect(functionsOf(`RULE r WHEN INSERT OCCURS ON P AS p ${body}`), body).toContain(`}, ${tail});`);
});

test('an error about what is null names the path to it', () => {
  const source = functionsOf('PROCEDURE f(p, i)\nreturn p.a["x"].b[0].c[i].d[i + 1].e(1)[p.q].g');
  for (const path of ['p', 'p.a', 'p.a[\\"x\\"]', 'p.a[\\"x\\"].b', 'p.a[\\"x\\"].b[0].c[i].d[…]', 'p.a[\\"x\\"].b[0].c[i].d[…].e()[p.q]'])
    expect(source, path).toContain(`"${path}")`);
});

test('the events that a text raises are known, but for what variables name', () => {
  const raised = (body: string): unknown => {
    const compiled = compile(`RULE r WHEN INSERT OCCURS ON V AS v ${body}`, { builtins });
    return compiled.ok && (compiled.unit as CompiledRule).raises;
  };
  expect(raised('INSERT A(n: 1) if (v) { UPSERT a.B(n: 1) } INSERT A(n: 2)')).toEqual([
    '/types/A/insert',
    '/types/a.B/insert',
    '/types/a.B/update',
  ]);
  expect(raised('UPDATE A(n: 1) WHERE {} DELETE B WHERE {} PUBLISH REQUEST ON C WITH {}')).toEqual([
    '/types/A/update',
    '/types/B/delete',
    '/types/C/request',
  ]);
  expect(raised('PUBLISH 1 TO TOPIC "/t" PUBLISH 1 TO SERVICE EVENT S.e PUBLISH 1 TO SOURCE s')).toEqual([
    '/topics/t/publish',
    '/services/S.e',
  ]);
  expect(raised('INSERT @v(n: 1) DELETE @v WHERE {} PUBLISH 1 TO TOPIC @v')).toEqual([]);
});

test('the events that a text with a PACKAGE raises have its full names', () => {
  const text =
    'PACKAGE a.b\nIMPORT TYPE c.d.Far AS F\nIMPORT SERVICE c.d.Svc AS S\nRULE r WHEN INSERT OCCURS ON V AS v ' +
    'INSERT A(n: 1) DELETE F WHERE {} PUBLISH 1 TO TOPIC "/t" PUBLISH 1 TO SERVICE EVENT "S/e" PUBLISH 1 TO SERVICE EVENT "Own/e"';
  const compiled = compile(text, { builtins });
  expect(compiled.ok && (compiled.unit as CompiledRule).raises).toEqual([
    '/types/a.b.A/insert',
    '/types/c.d.Far/delete',
    '/topics/a.b/t/publish',
    '/services/c.d.Svc/e',
    '/services/a.b.Own/e',
  ]);
});

test('a SELECT on nodes asks for the rows that it says, and its blocks take results and failures', () => {
  const asked = (cardinality: string): string =>
    functionsOf(`PROCEDURE f()\nreturn SELECT ${cardinality} FROM T PROCESSED BY EXACTLY ONE name == "n"`);
  for (const [written, kept] of [
    ['ONE', 'one'],
    ['', 'array'],
  ] as const)
    expect(asked(written), written).toContain(`cardinality: "${kept}"`);
  expect(
    functionsOf('PROCEDURE f()\nSELECT FROM T AS t PROCESSED BY ALL { log.info(t.n) } ON ERROR (e) { log.info(e.code) }'),
  ).toMatchInlineSnapshot(`
    "  function* main($) {
        const $i0 = $iterate($, $nodeItems($, 0, {
          where: {},
          cardinality: null,
          within: null,
          limited: false,
          gathers: false,
          streams: true,
          handled: true,
          kind: "select",
          statement: {
            resource: "T",
            where: {},
            props: null,
            orderBy: [],
            cardinality: "array",
            options: {}
          }
        }, null, null));
        while ($step($i0) || (yield* $pull($, $i0))) {
          if (--$.fuel < 0) yield* $slice($);
          let $n1 = $value($i0);
          let v_t = $get($n1, "value", "the item");
          if ($truth($get($n1, "ok", "the item"))) {
            b_log_info($, $get(v_t, "n", "t"));
          } else {
            let v_e = $get($n1, "context", "the item");
            b_log_info($, $get(v_e, "code", "e"));
          }
        }
      }"
  `);
});
