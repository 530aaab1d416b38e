export const codeLength = 6;

/** Whether the text is exactly six ASCII digits. */
export function isOneTimeCode(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}

/**
 * The six digits in pasted text, or null. Surrounding whitespace and one space or dash inside are tolerated, since
 * authenticator apps copy `123 456` (decisions §5).
 */
export function codeOfPaste(text: string): string | null {
  const match = /^\s*([0-9]+)(?:[\s-]([0-9]+))?\s*$/.exec(text);
  const digits = (match?.[1] ?? '') + (match?.[2] ?? '');
  return isOneTimeCode(digits) ? digits : null;
}
