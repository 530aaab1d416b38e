import type { ComponentType } from 'react';
import type { Page } from '#contract/page.ts';
import type { Place } from '../addresses.ts';
import { useApp } from '../app-context.ts';
import { Leaving } from './leaving.tsx';
import { Login } from './login.tsx';

/**
 * Whether a place shows a screen of the second script: any but the sign-in form, and the page on the way to a provider,
 * where nobody waits for a script.
 */
export function isLater({ screen }: Place, { serverPage }: Page): boolean {
  return serverPage ? serverPage.name !== 'leaving' : screen.name !== 'login';
}

export async function loadLaterScreen(): Promise<{ default: ComponentType }> {
  return { default: (await import('./later-screen.tsx')).LaterScreen };
}

/** The screen of the current place. */
export function CurrentScreen({ LaterScreen }: { LaterScreen: ComponentType }) {
  const { page, place } = useApp();
  if (isLater(place, page)) return <LaterScreen />;
  return page.serverPage?.name === 'leaving' ? <Leaving {...page.serverPage} /> : <Login />;
}
