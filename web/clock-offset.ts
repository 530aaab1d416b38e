/** Clock help goes no further than this. */
const longestOffset = /^-?\d{1,6}$/;

/** The reported seconds by which a clock is ahead, negative if behind; null if unreadable. */
export function clockOffsetOf(text: string | null): number | null {
  return text !== null && longestOffset.test(text) && Number(text) !== 0 ? Number(text) : null;
}

/** Half minutes are precise enough: a code is valid for one. */
export function minutesOff(clockOffset: number): number {
  return Math.max(1, Math.round(Math.abs(clockOffset) / 30)) / 2;
}
