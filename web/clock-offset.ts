/** Further than this no clock help goes. */
const longestOffset = /^-?\d{1,6}$/;

/** The seconds by which a clock is said to be ahead, negative when behind; null where nothing readable is said. */
export function clockOffsetOf(text: string | null): number | null {
  return text !== null && longestOffset.test(text) && Number(text) !== 0 ? Number(text) : null;
}

/** Half minutes are near enough: a code is valid for one. */
export function minutesOff(clockOffset: number): number {
  return Math.max(1, Math.round(Math.abs(clockOffset) / 30)) / 2;
}
