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
    <SmallButton icon={outcome === 'copied' ? 'check' : 'copy'} onClick={copy}>
      {outcome ? message(outcome) : label}
    </SmallButton>
  );
}

/** Saves a text as a file made in the page, without a request to the server. */
export function DownloadButton({ name, text }: { name: string; text: string }) {
  const message = useMessage();

  function download() {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), longestStart);
  }

  return (
    <SmallButton icon="download" onClick={download}>
      {message('download')}
    </SmallButton>
  );
}

/** Browsers that ask where to save read the file only then. */
const longestStart = 60_000;

export function PrintButton() {
  return (
    <SmallButton icon="print" onClick={() => print()}>
      {useMessage()('print')}
    </SmallButton>
  );
}

type SmallProps = { icon: keyof typeof sealShapes; onClick: () => void; children: string };

function SmallButton({ icon, onClick, children }: SmallProps) {
  return (
    <button className="button quiet small" type="button" onClick={onClick}>
      <Icon shape={sealShapes[icon]} size={18} />
      {children}
    </button>
  );
}
