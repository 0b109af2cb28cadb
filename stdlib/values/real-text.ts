// How a Real reads as text (builtins.md 0.3).

/** Always with a fraction; plain from 10^-3 up to 10^7, else `d.dddE±n` without a plus. Reads back as the same double. */
export function formatReal(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e7) {
    const shortest = String(value);
    return shortest.includes('.') ? shortest : `${shortest}.0`;
  }
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  if (!Number.isFinite(value)) return String(value);
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.replace('+', '')}`;
}
