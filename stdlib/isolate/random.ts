// The run's randomness: a small fast generator (sfc32) from the seed that the host gave, so that a replay sees the same values.
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    [this.#a, this.#b, this.#c] = hash(seed);
    for (let i = 0; i < 15; i++) this.#next();
  }

  /** Uniform in 0 ≤ r < 1, 53 bits. */
  real(): number {
    return ((this.#next() >>> 5) * 67_108_864 + (this.#next() >>> 6)) / 9_007_199_254_740_992;
  }

  /** Version 4, lower case. */
  uuid(): string {
    const words = [this.#next(), this.#next(), this.#next(), this.#next()];
    const hex = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
    const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3];
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum;
  }
}

/** Three words that depend on every character of the text. */
function hash(text: string): [number, number, number] {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x85ebca6b) ^ (b >>> 13);
    b = Math.imul(b ^ code, 0xc2b2ae35) ^ (c >>> 11);
    c = Math.imul(c ^ code, 0x27d4eb2f) ^ (a >>> 16);
  }
  return [a, b, c];
}
