// A stand-in for the isolates' script: it speaks the step protocol, but its programs are plain JavaScript, so that tests can do in an
// isolate what no compiled program could. A program is `function* ($, ...args)`; it yields what it wants:
//   $.op(kind, payload, site?)   a request; gives the answer, or throws what was answered as an error
//   $.slice(charged?)            gives way; $.heapBytes is then what the host told
//   $.call(name)                 asks for a procedure; gives its info
//   $.log(text)                  a log entry
// Anything else that it does (loops without an end, arrays without a bound) is not held back by anything.
export const FAKE_BUNDLE = `(() => {
'use strict';
const factories = new Map(), programs = new Map(), runs = new Map(), procedures = new Map(), waiting = new Map();
const frames = new Map(), settings = new Map();
let out, texts, event;
function lengthOf(value) {
  const text = JSON.stringify(value === undefined ? null : value);
  texts += text;
  return text.length;
}

function advance(run, input) {
  for (;;) {
    let next;
    try {
      next = input && input.error ? run.generator.throw(input.error) : run.generator.next(input && input.value);
    } catch (error) {
      runs.delete(run.id);
      const known = error && typeof error.code === 'string';
      const wire = known ? error : { code: 'test.thrown', message: String(error), params: [], status: 500 };
      out.push(['fail', run.id, { ...wire, frames: [] }, run.fuel]);
      return;
    }
    if (next.done) {
      runs.delete(run.id);
      out.push(['done', run.id, lengthOf(next.value), run.fuel]);
      return;
    }
    const wish = next.value;
    input = undefined;
    if (wish.kind === 'log') out.push(['log', run.id, run.logs++, 'INFO', wish.text]);
    else if (wish.kind === 'slice') {
      run.fuel += run.opts.fuel;
      out.push(['slice', run.id, run.fuel, wish.charged]);
      return;
    } else if (wish.kind === 'call') {
      if (procedures.has(wish.name)) input = { value: procedures.get(wish.name) };
      else {
        if (!waiting.has(wish.name)) waiting.set(wish.name, []);
        waiting.get(wish.name).push(run);
        out.push(['resolve', run.id, wish.name]);
        return;
      }
    } else {
      const nth = run.sites[wish.site] || 0;
      run.sites[wish.site] = nth + 1;
      out.push(['op', run.id, wish.site, nth, wish.op, lengthOf(wish.payload), wish.tail]);
      return;
    }
  }
}

function start(id, program, args, opts) {
  const bound = programs.get(program);
  const run = { id, opts, fuel: 0, logs: 0, sites: {} };
  const $ = {
    k: bound && bound.constants, at: opts.at, opts,
    op: (op, payload, site = '1', tail = false) => ({ kind: 'op', op, payload, site, tail }),
    slice: (charged = 0) => ({ kind: 'slice', charged }),
    call: (name) => ({ kind: 'call', name }),
    log: (text) => ({ kind: 'log', text }),
  };
  run.$ = $;
  runs.set(id, run);
  const factory = bound && factories.get(bound.mod);
  if (!factory) {
    runs.delete(id);
    out.push(['fail', id, { code: 'test.unbound', message: program, params: [], status: 500, frames: [] }, 0]);
    return;
  }
  run.generator = factory({})($, ...args);
  advance(run);
}

function resume(id, at, input) {
  const run = runs.get(id);
  if (!run) return;
  run.$.at = at;
  advance(run, input);
}

const handlers = {
  bind: ([, program, mod, constants]) => programs.set(program, { mod, constants }),
  settings: ([, name, options]) => settings.set(name, options),
  frame: ([, name, program, common, resource]) => frames.set(name, { program, options: { ...settings.get(common), resource } }),
  runs: ([, at, fuel, list, events]) => {
    for (let i = 0; i < list.length; ) {
      const [id, turned, seed] = list.slice(i, i + 3);
      i += 3;
      const { program, options } = frames.get(turned < 0 ? ~turned : turned);
      if (options.members) {
        event = {};
        for (const member of options.members) event[member] = list[i++];
      } else if (turned >= 0) event = events.shift();
      start(id, program, [event], { ...options, at, seed, fuel });
    }
  },
  start: ([, id, program, , args, opts]) => start(id, program, args, opts),
  startProcedure: ([, id, name, args, , opts]) => start(id, name, args, opts),
  procedure: ([, name, info]) => {
    procedures.set(name, info);
    const woken = waiting.get(name) || [];
    waiting.delete(name);
    for (const run of woken) if (runs.has(run.id)) advance(run, { value: info });
  },
  forget: ([, name]) => procedures.delete(name),
  ok: ([, id, value, at]) => resume(id, at, { value }),
  list: ([, id, rows, at]) => resume(id, at, { value: rows }),
  err: ([, id, error, at]) => resume(id, at, { error }),
  go: ([, id, at, heapBytes]) => {
    const run = runs.get(id);
    if (run) run.$.heapBytes = heapBytes;
    resume(id, at);
  },
  drop: ([, id]) => runs.delete(id),
};

globalThis.$cascade = {
  define: (mod, factory) => { factories.set(mod, factory); },
  step: ([batch]) => {
    out = [];
    texts = '';
    for (const item of JSON.parse(batch)) handlers[item[0]](item);
    return [texts === '' ? JSON.stringify(out) : JSON.stringify(out) + '\\n' + texts];
  },
};
})();`;
