import type { MouseEvent } from 'react';

/** Whether a click means this page: one that opens another tab or window, or saves, is the browser's alone. */
export function isPlainClick(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}
