import type { MouseEvent } from 'react';

/** Whether a click navigates this page; those that open another tab or window, or save, are left to the browser. */
export function isPlainClick(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}
