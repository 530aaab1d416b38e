import { useEffect, useState } from 'react';
import { useApp, useMessage } from '../app-context.ts';
import { Icon } from './icon.tsx';
import { sealShapes } from './seal.tsx';

const saidMilliseconds = 2000;

/** Copies a text and briefly shows whether that worked. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const message = useMessage();
  const { announce } = useApp();
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
      <Icon shape={sealShapes[outcome === 'copied' ? 'check' : 'copy']} size={18} />
      {outcome ? message(outcome) : label}
    </button>
  );
}

/** Saves a text as a file made in the page, without a request to the server. */
export function DownloadButton({ name, text }: { name: string; text: string }) {
  const message = useMessage();

  function download() {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
    link.download = fileName(name);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), longestStart);
  }

  return (
    <button className="button quiet small" type="button" onClick={download}>
      <Icon shape={sealShapes.download} size={18} />
      {message('download')}
    </button>
  );
}

/** Browsers that ask where to save read the file only then. */
const longestStart = 60_000;

export function PrintButton() {
  const message = useMessage();
  return (
    <button className="button quiet small" type="button" onClick={() => print()}>
      <Icon shape={sealShapes.print} size={18} />
      {message('print')}
    </button>
  );
}

/** The text as a file name valid on every file system. */
export function fileName(text: string): string {
  return text
    .replace(/[\\/:*?"<>|\p{Cc}\s]+/gu, ' ')
    .replace(/^[. ]+/, '')
    .slice(-longest);
}

/** Keeps the end, which holds the file type. */
const longest = 120;
