// Built-ins of the language that this version does not have yet (builtins.md 10 and 19 to 30). Their names are kept for them, so that
// no program takes one (builtins.md 0.1 C8); a call is refused as one of an unknown procedure (stdlib/isolate/runtime.ts).
import type { BuiltinInfo } from '../../compiler/types.ts';

/** Each with its parameters; `?` optional. All are called by the name of their service. */
const SIGNATURES = `
Context.serverUri() Context.buildInfo()
Event.request(serviceEventName,data,timeout?)
`;

/** The compiler's entries for them. */
export function reservedBuiltins(): [string, BuiltinInfo][] {
  return [...SIGNATURES.matchAll(/([\w.]+)\(([^)]*)\)/g)].map(([, name = '', list = '']) => {
    const params = list === '' ? [] : list.split(',').map((text) => ({ name: text.replace('?', ''), optional: text.endsWith('?') }));
    return [name, { name, forms: 'S', params, effect: 'suspends' }];
  });
}
