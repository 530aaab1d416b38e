/** A text, number or flag as text; empty for anything else: an object of an import may have a `toString` that is none. */
export function textOf(value: unknown): string {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
}

/** A number, or a text that is one; NaN for anything else. */
export function numberOf(value: unknown): number {
  const text = textOf(value);
  return text === '' ? Number.NaN : Number(text);
}
