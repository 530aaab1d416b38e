import type { ComponentType } from 'react';
import type { Page } from '#contract/page.ts';
import type { Place } from './place.ts';

/** Whether a place shows a screen whose script is loaded separately. */
export function isSecondFactor({ screen }: Place, { serverPage }: Page): boolean {
  if (serverPage) return serverPage.name === 'recoveryCodes';
  return screen.name === 'twoFactor' || screen.name === 'twoFactorRegistration';
}

export async function loadSecondFactor(): Promise<ComponentType> {
  return (await import('./screens/second-factor.tsx')).SecondFactor;
}
