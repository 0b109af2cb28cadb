// Concurrent.Value: one value that several runs may change (builtins.md 10).
import { type StoredValue, NOTHING } from './stored-value.ts';
import type { Behaviour } from './shared-objects.ts';

export function sharedValue(): Behaviour {
  let value: StoredValue = NOTHING;
  return {
    get size() {
      return value.json.length;
    },
    clears: 0,
    lockOf: (method) => (method === 'setValue' ? '' : null),
    call: (method, [given = NOTHING]) => {
      switch (method) {
        case 'getValue':
          return value;
        case 'getValueOrDefault':
          return value.json === 'null' ? given : value;
        case 'setValue':
          return (value = given);
        default:
          return undefined;
      }
    },
    read: () => value,
    write: (_key, changed) => {
      value = changed ?? NOTHING;
    },
  };
}
