/** Does some work once the browser has nothing more urgent to do. */
export function whenIdle(work: () => unknown): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(work);
  // In Safari, which is idle by then on most pages.
  else setTimeout(work, 500);
}
