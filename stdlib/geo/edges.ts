// The edges of a shape in a tree of boxes, so that of two outlines only those edges are compared that are near each other; and what
// comparisons tell of the time they take.
import type { Geometry } from './geometry.ts';
import { length, plus, TOUCH, type Vector } from './vector.ts';

/** Is told of work in turns of a loop, and may throw to end it. */
export type Spend = (turns: number) => void;

/** Adds up small pieces of work, so that not each of them is told alone. */
export class Meter {
  readonly #spend: Spend;
  #open = 0;

  constructor(spend: Spend) {
    this.#spend = spend;
  }

  add(turns: number): void {
    this.#open += turns;
    if (this.#open < PIECE) return;
    const whole = Math.floor(this.#open);
    this.#open -= whole;
    this.#spend(whole);
  }
}
const PIECE = 64;

/** In turns of a loop: the comparison of two arcs, and that of two boxes. */
const ARCS = 16;
const BOXES = 1 / 4;

/** The numbers of a box: the least x, y and z, then the greatest. */
const SIDES = 6;

export class EdgeTree {
  readonly #edges: readonly (readonly [Vector, Vector])[];
  readonly #meter: Meter;
  /** The number of leaves, a power of two: node `i` is above `2 * i` and `2 * i + 1`, edge `i` is the leaf `#leaves + i`. */
  readonly #leaves: number;
  readonly #boxes: Float64Array;

  constructor(shape: Geometry, meter: Meter) {
    this.#edges = [...edges(shape)];
    this.#meter = meter;
    this.#leaves = 2 ** Math.ceil(Math.log2(Math.max(1, this.#edges.length)));
    meter.add(this.#leaves);
    this.#boxes = new Float64Array(2 * this.#leaves * SIDES);
    for (let i = 0; i < this.#leaves; i++) {
      const edge = this.#edges[i];
      this.#boxes.set(edge ? boxOf(...edge) : NOWHERE, (this.#leaves + i) * SIDES);
    }
    for (let i = this.#leaves - 1; i > 0; i--)
      for (let side = 0; side < SIDES; side++) {
        const [one, other] = [this.#boxes[2 * i * SIDES + side] as number, this.#boxes[(2 * i + 1) * SIDES + side] as number];
        this.#boxes[i * SIDES + side] = side < 3 ? Math.min(one, other) : Math.max(one, other);
      }
  }

  /** Whether the test holds for some edge near the arc from `a` to `b`; all that meet it are near. */
  some(a: Vector, b: Vector, test: (c: Vector, d: Vector) => boolean): boolean {
    const box = boxOf(a, b);
    const below = (node: number): boolean => {
      this.#meter.add(BOXES);
      if (!this.#overlaps(node, box)) return false;
      if (node < this.#leaves) return below(2 * node) || below(2 * node + 1);
      this.#meter.add(ARCS);
      return test(...(this.#edges[node - this.#leaves] as readonly [Vector, Vector]));
    };
    return below(1);
  }

  #overlaps(node: number, box: Box): boolean {
    const at = node * SIDES;
    for (let side = 0; side < 3; side++)
      if ((this.#boxes[at + side] as number) > box[side + 3]! || (this.#boxes[at + side + 3] as number) < box[side]!) return false;
    return true;
  }
}

type Box = readonly number[];
const { POSITIVE_INFINITY: FAR, NEGATIVE_INFINITY: NEAR } = Number;
const NOWHERE: Box = [FAR, FAR, FAR, NEAR, NEAR, NEAR];

/** Around an arc of at most half a turn: it bulges over its chord by no more than over the chord's middle. */
function boxOf(a: Vector, b: Vector): Box {
  const margin = 1 - length(plus(a, b)) / 2 + 4 * TOUCH;
  return [
    Math.min(a[0], b[0]) - margin,
    Math.min(a[1], b[1]) - margin,
    Math.min(a[2], b[2]) - margin,
    Math.max(a[0], b[0]) + margin,
    Math.max(a[1], b[1]) + margin,
    Math.max(a[2], b[2]) + margin,
  ];
}

export function* edges(shape: Geometry): Generator<[Vector, Vector]> {
  for (const line of shape.vectors) yield* edgesOf(line);
}

export function* edgesOf(line: readonly Vector[]): Generator<[Vector, Vector]> {
  for (let i = 1; i < line.length; i++) yield [line[i - 1] as Vector, line[i] as Vector];
}
