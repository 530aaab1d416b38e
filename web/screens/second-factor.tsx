import { useVisit } from '../visit.ts';
import { RecoveryCodes } from './recovery-codes.tsx';
import { TwoFactor } from './two-factor.tsx';
import { TwoFactorRegistration } from './two-factor-registration.tsx';

/** The second-factor screens, in a separate script, since many sign-ins never need them. */
export function SecondFactor() {
  const { page, place } = useVisit();
  if (page.serverPage?.name === 'recoveryCodes') return <RecoveryCodes {...page.serverPage} />;
  return place.screen.name === 'twoFactor' ? <TwoFactor /> : <TwoFactorRegistration />;
}
