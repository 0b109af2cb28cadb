// A heap of names with due times, from which the earliest is taken; a name's time may change.

interface Item {
  readonly name: string;
  readonly timeMs: number;
}

export class DueHeap {
  #items: Item[] = [];
  /** The valid item of each name; others in the heap are skipped when they reach its top. */
  readonly #valid = new Map<string, Item>();

  get size(): number {
    return this.#valid.size;
  }

  set(name: string, timeMs: number): void {
    const item = { name, timeMs };
    this.#valid.set(name, item);
    this.#push(item);
    if (this.#items.length > 64 && this.#items.length > 2 * this.#valid.size) this.#rebuild();
  }

  remove(name: string): void {
    this.#valid.delete(name);
  }

  /** The earliest time; null when the heap is empty. */
  nextMs(): number | null {
    this.#skip();
    return this.#items[0]?.timeMs ?? null;
  }

  /** Takes out due names, earliest first, up to a bound. */
  takeDue(nowMs: number, most = Number.POSITIVE_INFINITY): Item[] {
    const due: Item[] = [];
    for (this.#skip(); due.length < most && this.#items[0] && this.#items[0].timeMs <= nowMs; this.#skip()) {
      const item = this.#pop();
      this.#valid.delete(item.name);
      due.push(item);
    }
    return due;
  }

  #skip(): void {
    while (this.#items[0] && this.#valid.get(this.#items[0].name) !== this.#items[0]) this.#pop();
  }

  #rebuild(): void {
    this.#items = [...this.#valid.values()].sort((a, b) => a.timeMs - b.timeMs); // a sorted array is a heap
  }

  #push(item: Item): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if ((items[above] as Item).timeMs <= item.timeMs) break;
      items[at] = items[above] as Item;
      at = above;
    }
    items[at] = item;
  }

  #pop(): Item {
    const items = this.#items;
    const first = items[0] as Item;
    const last = items.pop() as Item;
    if (items.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && (items[below + 1] as Item).timeMs < (items[below] as Item).timeMs) below++;
      if ((items[below] as Item).timeMs >= last.timeMs) break;
      items[at] = items[below] as Item;
      at = below;
    }
    items[at] = last;
    return first;
  }
}
