// First in, first out. What was taken is not held any longer, nor is anything copied when it grows: of an array that is cut and grown the parts
// that are dead already would keep what has long been taken from the next quick collections of garbage.

const CHUNK = 256;

interface Chunk<T> {
  readonly items: (T | undefined)[];
  next: Chunk<T> | null;
}
const newChunk = <T>(): Chunk<T> => ({ items: new Array<T | undefined>(CHUNK).fill(undefined), next: null });

export class Fifo<T extends object> {
  #size = 0;
  #head: Chunk<T> = newChunk();
  #tail = this.#head;
  /** Place of the first in `#head`, and of the next to come in `#tail`. */
  #first = 0;
  #end = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T): void {
    if (this.#end === CHUNK) {
      this.#tail = this.#tail.next = newChunk();
      this.#end = 0;
    }
    this.#tail.items[this.#end++] = item;
    this.#size++;
  }

  /** The one that `shift` would take. */
  get first(): T | undefined {
    return this.#size === 0 ? undefined : this.#head.items[this.#first];
  }

  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const { items, next } = this.#head;
    const item = items[this.#first];
    items[this.#first++] = undefined;
    this.#size--;
    if (this.#size === 0) this.#first = this.#end = 0;
    else if (this.#first === CHUNK && next) {
      this.#head = next;
      this.#first = 0;
    }
    return item;
  }
}
