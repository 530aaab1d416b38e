import { limits } from '../limits.ts';

/**
 * Where the CBOR item that begins at `start` ends, which may be after the last byte; null if it is cut, or not such as
 * authenticators write (CTAP 2.1, §8): no tags, floats or items of indefinite length, at most four levels, few items. Walks heads only, so a forged length
 * costs nothing; the library, which decodes, sees nothing else.
 */
export function endOfCbor(bytes: Uint8Array, start = 0): number | null {
  const { items, depth } = limits.passkeyAnswer;
  let count = 0;

  function skip(at: number, level: number): number | null {
    count += 1;
    const head = headAt(bytes, at);
    if (!head || count > items || level > depth) return null;
    const { major, value, end } = head;
    if (major <= 1) return end;
    if (major === 7) return value <= 23 && end === at + 1 ? end : null;
    if (major === 6) return null;
    if (major <= 3) return end + value;
    let next: number | null = end;
    const parts = major === 4 ? value : 2 * value;
    for (let part = 0; part < parts && next !== null; part += 1) next = skip(next, level + 1);
    return next;
  }

  return skip(start, 1);
}

/** Kind and length, or value, of the item at a place; null if it is cut, or of indefinite length (RFC 8949 §3). */
function headAt(bytes: Uint8Array, at: number): { major: number; value: number; end: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  const [major, short] = [first >> 5, first & 31];
  if (short < 24) return { major, value: short, end: at + 1 };
  const size = [1, 2, 4][short - 24];
  if (size === undefined || at + 1 + size > bytes.length) return null;
  let value = 0;
  for (let place = at + 1; place <= at + size; place += 1) value = value * 256 + (bytes[place] as number);
  return { major, value, end: at + 1 + size };
}
