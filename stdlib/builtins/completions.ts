// The built-ins as editors offer them: one entry a declaration, with its signature as text and as data.
import type { Builtin, Overload } from './registry.ts';
import type { ParameterSpec } from './signature.ts';

export interface Completion {
  readonly name: string;
  /** `trim(str: String) => String` */
  readonly call: string;
  /** F: `f(a)`, M: `a.f()`, S: the name with its service in front. */
  readonly forms: Overload['forms'];
  readonly params: readonly ParameterSpec[];
  readonly result: string;
  /** Whether a call may wait for the service. */
  readonly effect: 'pure' | 'suspends';
  readonly errors: Overload['errors'];
  readonly about: string;
}

/** In the order of their names. @param prefix of the names, whatever its case */
export const completionsOf = (builtins: Iterable<Builtin>, prefix: string): Completion[] =>
  [...builtins]
    .flatMap(({ overloads }) => overloads)
    .filter(({ name }) => name.toLowerCase().startsWith(prefix.toLowerCase()))
    .map((overload) => {
      const { name, forms, params, result, host, errors, about } = overload;
      return {
        name,
        call: callText(overload),
        forms,
        params,
        result,
        effect: host ? ('suspends' as const) : ('pure' as const),
        errors,
        about,
      };
    })
    .sort((a, b) => (a.call < b.call ? -1 : 1));

/** The declaration in one line. */
export function callText({ name, params, result }: Pick<Overload, 'name' | 'params' | 'result'>): string {
  const list = params.map((each) => `${each.rest ? '…' : ''}${each.name}${each.optional ? '?' : ''}: ${each.types.join('|')}`);
  return `${name}(${list.join(', ')}) => ${result}`;
}
