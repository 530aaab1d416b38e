import type { ComponentType } from 'react';
import type { Page } from '#contract/page.ts';
import type { Place } from './place.ts';

/**
 * Whether a place shows a screen whose script is loaded separately: the second factor, and what the server answers on
 * an address of its own. Visitors never wait for those, except when they leave for a provider.
 */
export function isLater({ screen }: Place, { serverPage }: Page): boolean {
  if (serverPage) return serverPage.name !== 'leaving';
  return screen.name === 'twoFactor' || screen.name === 'twoFactorRegistration';
}

export async function loadLaterScreen(): Promise<ComponentType> {
  return (await import('./screens/later-screen.tsx')).LaterScreen;
}
