// An event in the form that the sandbox gets: its text is made on demand, from the decoded value where that is in memory.
import type { Value } from '../../../stdlib/values/index.ts';
import type { StoredEvent } from '../../transactions/index.ts';
import { keptValue } from '../../events/index.ts';
import type { RunEvent } from '../../../sandbox/index.ts';

export class EventText implements RunEvent {
  readonly key: string;
  readonly binds: RunEvent['binds'];
  readonly value?: Value;
  readonly length: number;
  readonly #make: () => string;

  constructor(key: string, binds: RunEvent['binds'], event: StoredEvent, make: () => string) {
    this.key = key;
    this.binds = binds;
    const value = keptValue(event);
    if (value !== undefined) this.value = value;
    this.length = event.value.length;
    this.#make = make;
  }

  get json(): string {
    return this.#make();
  }
}
