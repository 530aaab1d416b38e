/** One `@` with text on both sides and whitespace around it at most; the server is no stricter (decisions §5). */
export function isEmailAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/u.test(text.trim());
}
