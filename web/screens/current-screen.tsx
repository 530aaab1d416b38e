import type { ComponentType } from 'react';
import { useVisit } from '../visit.ts';
import { EmailInfo } from './email-info.tsx';
import { Forgotten } from './forgotten.tsx';
import { ForgottenChange } from './forgotten-change.tsx';
import { ForgottenChangeFailedInfo } from './forgotten-change-failed-info.tsx';
import { ForgottenChangedInfo } from './forgotten-changed-info.tsx';
import { Leaving } from './leaving.tsx';
import { Login } from './login.tsx';
import { LoginFail } from './login-fail.tsx';
import { NotFound } from './not-found.tsx';
import { Problem } from './problem.tsx';
import { SignOutConfirm } from './sign-out-confirm.tsx';
import { SignedIn } from './signed-in.tsx';
import { SingleSignOn } from './single-sign-on.tsx';

/** The screen of the current place. `SecondFactor` is set if the place needs it. */
export function CurrentScreen({ SecondFactor }: { SecondFactor: ComponentType | null }) {
  const { page, place } = useVisit();
  switch (page.serverPage?.name) {
    case 'signedIn':
      return <SignedIn {...page.serverPage} />;
    case 'signOutConfirm':
      return <SignOutConfirm />;
    case 'recoveryCodes':
    case 'signInOnceMore':
    case 'providerBegan':
    case 'otherAccount':
    case 'oneMoment':
    case 'registerElsewhere':
      return SecondFactor && <SecondFactor />;
    case 'leaving':
      return <Leaving {...page.serverPage} />;
    case 'problem':
      return <Problem {...page.serverPage} />;
  }
  switch (place.screen.name) {
    case 'login':
      return <Login />;
    case 'singleSignOn':
      return <SingleSignOn />;
    case 'forgotten':
      return <Forgotten />;
    case 'emailInfo':
      return <EmailInfo />;
    case 'forgottenChange':
      return <ForgottenChange />;
    case 'forgottenChangedInfo':
      return <ForgottenChangedInfo />;
    case 'forgottenChangeFailedInfo':
      return <ForgottenChangeFailedInfo />;
    case 'twoFactor':
    case 'twoFactorRegistration':
      return SecondFactor && <SecondFactor />;
    case 'loginFail':
      return <LoginFail type={place.screen.type} />;
    case 'notFound':
      return <NotFound />;
  }
}
