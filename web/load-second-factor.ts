import type { ComponentType } from 'react';
import type { Page, ServerPage } from '#contract/page.ts';
import type { Place } from './place.ts';

/** Whether a place shows a screen whose script is loaded separately. */
export function isSecondFactor({ screen }: Place, { serverPage }: Page): boolean {
  if (serverPage) return serverPages.includes(serverPage.name);
  return screen.name === 'twoFactor' || screen.name === 'twoFactorRegistration';
}

const serverPages: readonly ServerPage['name'][] = [
  'recoveryCodes',
  'signInOnceMore',
  'providerBegan',
  'otherAccount',
  'oneMoment',
  'registerElsewhere',
];

export async function loadSecondFactor(): Promise<ComponentType> {
  return (await import('./screens/second-factor.tsx')).SecondFactor;
}
