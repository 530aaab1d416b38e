/** Safari has no idle callback; by then it is idle on most pages. */
const soonMilliseconds = 500;

/** Does some work once the browser has nothing more urgent to do. */
export function whenIdle(work: () => unknown): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(work);
  else setTimeout(work, soonMilliseconds);
}
