// What a few texts become. A change of the emitter shows here first; what the code does is held by stdlib/isolate's tests.
import { expect, test } from 'vitest';
import { compile } from '../index.ts';
import type { BuiltinInfo, CompiledModule } from '../types.ts';

const builtin = (name: string, forms: string, params: string[]): [string, BuiltinInfo] => [
  name,
  { name, forms, params: params.map((param) => ({ name: param })), effect: 'pure' },
];
const builtins = new Map([builtin('trim', 'FM', ['str']), builtin('log.info', 'S', ['message', 'args'])]);
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
        while ($step($i0) || (yield* $pull($, $i0))) {
          if (--$.fuel < 0) yield* $slice($);
          let v_x = $value($i0);
          if ($gt(v_t, 9)) {
            yield* $close($, $i0);
            break;
          }
          v_t = $add(v_t, $get(v_x, "n", "x"));
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
