// Templates (builtins.md 28.1): `$name`, `${a.b}`, `@repeat(list)…@endrepeat`, in a text or in all texts of a structure.
import { fail } from '../errors.ts';
import { failDeep, getOwn, isObject, LocalValue, MAX_DEPTH, type ObjectValue, setOwn, text, typeOf, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { made, refuseLength, turnsOf } from './growth.ts';

type Part = string | { readonly path: readonly string[] } | { readonly repeat: readonly string[]; readonly body: readonly Part[] };

const PROCEDURE = 'io.service.text.Template.format';
const TOKEN = /\\([\\$nt])|\$\{([^{}]*)\}|\$([A-Za-z0-9_]+)|@repeat\(([^()]*)\)|(@endrepeat)/g;
const ESCAPES: Record<string, string> = { '\\': '\\', $: '$', n: '\n', t: '\t' };

/** What is no variable, escape or repetition is text. A repetition that never ends, or ends before it began, is a pattern error. */
function parseTemplate(template: string): Part[] {
  const open: { parts: Part[]; path: readonly string[]; at: number }[] = [];
  let parts: Part[] = [];
  let last = 0;
  const path = (source: string): string[] => source.trim().split('.');
  for (const match of template.matchAll(TOKEN)) {
    const [whole, escaped, braced, bare, repeat, end] = match;
    parts.push(template.slice(last, match.index));
    last = match.index + whole.length;
    if (escaped !== undefined) parts.push(ESCAPES[escaped] as string);
    else if (repeat !== undefined) {
      open.push({ parts, path: path(repeat), at: match.index });
      parts = [];
    } else if (end !== undefined) {
      const outer = open.pop() ?? fail('cascade.builtin.pattern', template, match.index);
      outer.parts.push({ repeat: outer.path, body: parts });
      parts = outer.parts;
    } else parts.push({ path: path(braced ?? bare ?? '') });
  }
  const unclosed = open.at(-1);
  if (unclosed) fail('cascade.builtin.pattern', template, unclosed.at);
  parts.push(template.slice(last));
  return parts;
}

/** The value at a path; null values are values, missing ones are not. */
function variable(input: ObjectValue, path: readonly string[]): Value {
  let value: Value = input;
  for (const step of path) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return fail('cascade.template.variable', path.join('.'));
    value = getOwn(value, step);
  }
  return documentText(value) ?? value;
}

/** The text of a document that documentReference has read; null for other values. */
function documentText(value: Value): string | null {
  const content = isObject(value) && Object.hasOwn(value, 'ars_documentReference') ? getOwn(value, 'text') : null;
  return typeof content === 'string' ? content : null;
}

/** What FOR goes through (language.md F1); null for what it does not. Shared Maps are their contents here. */
function elementsOf(value: Value): readonly Value[] | null {
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  if (isObject(value)) return Object.keys(value).map((key) => ({ key, value: getOwn(value, key) }));
  return (value instanceof LocalValue && (value as { entries?: () => readonly Value[] }).entries?.()) || null;
}

function fill(context: BuiltinContext, parts: readonly Part[], input: ObjectValue): string {
  let result = '';
  for (const part of parts) {
    context.spend(1);
    if (typeof part === 'string') result += part;
    else if ('path' in part) {
      const value = variable(input, part.path);
      context.spend(turnsOf(value));
      result += text(value);
    } else {
      const list = variable(input, part.repeat);
      const elements = elementsOf(list) ?? fail('cascade.procedure.parameter.type', PROCEDURE, part.repeat.join('.'), 'List', typeOf(list));
      for (const element of elements) {
        context.spend(1);
        refuseLength((result += fill(context, part.body, isObject(element) ? element : { value: element })).length);
      }
    }
    refuseLength(result.length);
  }
  return result;
}

/** A text filled in, or a structure whose texts are. */
function format(context: BuiltinContext, template: Value, input: ObjectValue, whole = template, depth = 0): Value {
  if (depth > MAX_DEPTH) failDeep('template', whole);
  context.spend(1);
  const source = typeof template === 'string' ? template : documentText(template);
  if (source !== null) {
    context.spend(source.length);
    return made(context, fill(context, parseTemplate(source), input));
  }
  if (Array.isArray(template)) return template.map((element) => format(context, element, input, whole, depth + 1));
  if (!isObject(template)) return template;
  const result: ObjectValue = {};
  for (const key of Object.keys(template)) setOwn(result, key, format(context, template[key] as Value, input, whole, depth + 1));
  return result;
}

export const templates: readonly Declaration[] = [
  {
    call: 'io.service.text.Template.format(template: String|Object|List, input: Object|Sequence) => any',
    forms: 'S',
    about: 'A template, or a structure of them, with values put in.',
    errors: ['cascade.template.variable', 'cascade.builtin.pattern', 'cascade.lang.range'],
    contents: true,
    run: (context, template: Value, input: Value) => {
      // Sequences are named in the signature for those inside the input, which are Lists by now.
      if (!isObject(input)) return fail('cascade.procedure.parameter.type', PROCEDURE, 'input', 'Object', typeOf(input));
      return format(context, template, input);
    },
  },
  {
    call: 'io.service.text.Template.documentReference(docName: String) => Object',
    forms: 'S',
    about: 'A document, up to 1 MiB, as a template, inside one, or as an input value: its text as it is now.',
    errors: ['cascade.resource.not.found', 'cascade.document.too.large', 'cascade.authorization.denied'],
    effect: 'suspends',
  },
];
