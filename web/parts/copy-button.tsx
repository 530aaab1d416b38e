import { useEffect, useState } from 'react';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { Icon } from './icon.tsx';
import { laterShapes } from './later-shapes.tsx';

const saidMilliseconds = 2000;

/** For the screens that show it once the script runs. */
export const copyButtonTexts = ['copied', 'not-copied'] as const;

/** Copies a text and briefly shows whether that worked. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const message = useMessage();
  const { announce } = useVisit();
  const [outcome, setOutcome] = useState<'copied' | 'not-copied' | null>(null);

  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(null), saidMilliseconds);
    return () => clearTimeout(timer);
  }, [outcome]);

  async function copy() {
    let next: typeof outcome = 'copied';
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      next = 'not-copied';
    }
    setOutcome(next);
    announce(message(next));
  }

  return (
    <button className="button quiet small" type="button" onClick={copy}>
      <Icon shape={laterShapes[outcome === 'copied' ? 'check' : 'copy']} size={18} />
      {outcome ? message(outcome) : label}
    </button>
  );
}
