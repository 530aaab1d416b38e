/** One `@` with text on both sides and no whitespace; the server is no stricter (decisions §5). */
export function isEmailAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/u.test(text);
}
