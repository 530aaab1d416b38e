import type { ComponentType } from 'react';
import type { Page } from '#contract/page.ts';
import type { Place } from './addresses.ts';

/**
 * Whether a place shows a screen of the second script: any but the sign-in form, and the page on the way to a provider,
 * where nobody waits for a script.
 */
export function isLater({ screen }: Place, { serverPage }: Page): boolean {
  return serverPage ? serverPage.name !== 'leaving' : screen.name !== 'login';
}

export async function loadLaterScreen(): Promise<ComponentType> {
  return (await import('./screens/later-screen.tsx')).LaterScreen;
}
