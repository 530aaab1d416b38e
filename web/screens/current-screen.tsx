import type { ComponentType } from 'react';
import type { PageScreen } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import { Leaving } from './leaving.tsx';
import { Login } from './login.tsx';

/** In the second script: all but the sign-in form, and the way to a provider, where nobody waits for a script. */
export function isLater({ name }: PageScreen): boolean {
  return name !== 'login' && name !== 'leaving';
}

export async function loadLaterScreen(): Promise<{ default: ComponentType }> {
  return { default: (await import('./later-screen.tsx')).LaterScreen };
}

export function CurrentScreen({ LaterScreen }: { LaterScreen: ComponentType }) {
  const { screen } = useApp();
  if (screen.name === 'login') return <Login />;
  return screen.name === 'leaving' ? <Leaving {...screen} /> : <LaterScreen />;
}
