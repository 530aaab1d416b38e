import { useVisit } from '../visit.ts';
import { OneMoment } from './one-moment.tsx';
import { OtherAccount } from './other-account.tsx';
import { ProviderBegan } from './provider-began.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { RegisterElsewhere } from './register-elsewhere.tsx';
import { SignInOnceMore } from './sign-in-once-more.tsx';
import { TwoFactor } from './two-factor.tsx';
import { TwoFactorRegistration } from './two-factor-registration.tsx';

/**
 * The second-factor screens and what a provider's answer leads to, in a separate script, since many sign-ins never need
 * them.
 */
export function SecondFactor() {
  const { page, place } = useVisit();
  switch (page.serverPage?.name) {
    case 'recoveryCodes':
      return <RecoveryCodes {...page.serverPage} />;
    case 'providerBegan':
      return <ProviderBegan {...page.serverPage} />;
    case 'otherAccount':
      return <OtherAccount {...page.serverPage} />;
    case 'oneMoment':
      return <OneMoment {...page.serverPage} />;
    case 'signInOnceMore':
      return <SignInOnceMore {...page.serverPage} />;
    case 'registerElsewhere':
      return <RegisterElsewhere {...page.serverPage} />;
  }
  return place.screen.name === 'twoFactor' ? <TwoFactor /> : <TwoFactorRegistration />;
}
