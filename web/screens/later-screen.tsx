import { putLaterStyle } from '../put-later-style.ts';
import { useVisit } from '../visit.ts';
import { OneMoment } from './one-moment.tsx';
import { OtherAccount } from './other-account.tsx';
import { Problem } from './problem.tsx';
import { ProviderBegan } from './provider-began.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { RegisterElsewhere } from './register-elsewhere.tsx';
import { SignInOnceMore } from './sign-in-once-more.tsx';
import { SignOutConfirm } from './sign-out-confirm.tsx';
import { SignedIn } from './signed-in.tsx';
import { TwoFactor } from './two-factor.tsx';
import { TwoFactorRegistration } from './two-factor-registration.tsx';

// The server puts it into the document.
if (typeof document !== 'undefined') putLaterStyle();

/** The screens of a separate script, which the first page of a visit does not need (load-later-screen.ts). */
export function LaterScreen() {
  const { page, place } = useVisit();
  switch (page.serverPage?.name) {
    case 'signedIn':
      return <SignedIn {...page.serverPage} />;
    case 'signOutConfirm':
      return <SignOutConfirm />;
    case 'problem':
      return <Problem {...page.serverPage} />;
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
