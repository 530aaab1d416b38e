import { useEffect, useRef, useState } from 'react';
import type { MessageKey } from './messages.ts';

/** Specification §9. */
const fadeMilliseconds = 300;

/** A page that is still here after this long becomes usable again, so that no spinner runs forever. */
const longestWait = 20_000;

/** Leaves the page: fade, then the veil with its text, until the document unloads or `comeBack` is called. */
export function useLeavePage() {
  const [word, setWord] = useState<MessageKey | null>(null);
  const isLeaving = useRef(false);
  const faded = useRef(Promise.resolve());

  function leave(nextWord: MessageKey): boolean {
    if (isLeaving.current) return false;
    isLeaving.current = true;
    const isReduced = matchMedia('(prefers-reduced-motion: reduce)').matches;
    faded.current = new Promise((done) => (isReduced ? done() : setTimeout(done, fadeMilliseconds)));
    setWord(nextWord);
    return true;
  }

  function comeBack(): void {
    isLeaving.current = false;
    setWord(null);
  }

  useEffect(() => {
    if (word === null) return;
    const timer = setTimeout(comeBack, longestWait);
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && comeBack();
    addEventListener('keydown', onKey);
    return () => {
      clearTimeout(timer);
      removeEventListener('keydown', onKey);
    };
  });

  return { word, leave, comeBack, fadeOver: () => faded.current };
}
