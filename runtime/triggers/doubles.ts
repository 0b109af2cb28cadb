// Neighbours of a double, so that an open end of a range can be written as a closed one.

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** The least double above `value`, which is finite. */
export function nextUp(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  double[0] = value;
  bits[0] = (bits[0] as bigint) + (value > 0 ? 1n : -1n);
  return double[0];
}

export const nextDown = (value: number): number => -nextUp(-value);
