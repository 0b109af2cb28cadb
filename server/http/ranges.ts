// Ranges and entity tags (RFC 9110 13, 14). Pure.

/**
 * The single range of bytes that a header requests, as offsets of its first byte and of the one after its last; null where the header is to
 * be ignored: another unit, no range, or several.
 */
export function rangeIn(header: string, sizeBytes: number): readonly [from: number, to: number] | 'unsatisfiable' | null {
  const [, first, last] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'unsatisfiable' : [sizeBytes - length, sizeBytes];
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= sizeBytes) return 'unsatisfiable';
  return [from, last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes)];
}

/** Whether an If-None-Match header names this tag, compared weakly. */
export const namesTag = (header: string, tag: string): boolean =>
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag);
