import { type ComponentProps, useEffect, useState } from 'react';
import { useApp } from '../app-context.ts';
import { Icon } from './icon.tsx';
import { sealShapes } from './seal.tsx';

const saidMilliseconds = 2000;

/** Copies a text and briefly shows whether that worked. `name`: what it copies, for who does not see where it stands. */
export function CopyButton({ text, name }: { text: string; name?: string }) {
  const { message, announce } = useApp();
  const [outcome, setOutcome] = useState<'copied' | 'not-copied' | null>(null);

  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(null), saidMilliseconds);
    return () => clearTimeout(timer);
  }, [outcome]);

  async function copy() {
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject();
    const next = await copied.then(() => 'copied' as const).catch(() => 'not-copied' as const);
    setOutcome(next);
    announce(message(next));
  }

  return (
    <SmallButton icon={outcome === 'copied' ? 'check' : 'copy'} aria-label={outcome ? undefined : name} onClick={copy}>
      {message(outcome ?? 'copy')}
    </SmallButton>
  );
}

type SmallProps = ComponentProps<'button'> & { icon: keyof typeof sealShapes };

export function SmallButton({ icon, children, ...button }: SmallProps) {
  return (
    <button className="button quiet small" type="button" {...button}>
      <Icon shape={sealShapes[icon]} size={18} />
      {children}
    </button>
  );
}
