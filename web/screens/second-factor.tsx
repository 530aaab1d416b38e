import { useVisit } from '../visit.ts';
import { RecoveryCodes } from './recovery-codes.tsx';
import { TwoFactor } from './two-factor.tsx';
import { TwoFactorRegistration } from './two-factor-registration.tsx';

/** The screens of the second factor: a script of their own, since who is not asked for one never needs it. */
export function SecondFactor() {
  const { page, place } = useVisit();
  if (page.serverPage?.name === 'recoveryCodes') return <RecoveryCodes {...page.serverPage} />;
  return place.screen.name === 'twoFactor' ? <TwoFactor /> : <TwoFactorRegistration />;
}
