import { useEffect, useState } from 'react';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { Icon } from './icon.tsx';

const copiedMilliseconds = 2000;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const message = useMessage();
  const { announce } = useVisit();
  const [isCopied, setCopied] = useState(false);

  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), copiedMilliseconds);
    return () => clearTimeout(timer);
  }, [isCopied]);

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return;
    }
    setCopied(true);
    announce(message('copied'));
  }

  return (
    <button className="button quiet small" type="button" onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} size={18} />
      {isCopied ? message('copied') : label}
    </button>
  );
}
