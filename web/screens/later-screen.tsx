import { useApp } from '../app-context.ts';
import { EmailInfo, Forgotten, ForgottenChangedInfo } from './forgotten.tsx';
import { ForgottenChange, ForgottenChangeFailedInfo } from './forgotten-change.tsx';
import { LoginFail } from './login-fail.tsx';
import { NotForYou, NotFound, Problem } from './problem.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { RegisterElsewhere, SignInOnceMore } from './register-elsewhere.tsx';
import { SignedIn, SignOutConfirm } from './signed-in.tsx';
import { SingleSignOn } from './single-sign-on.tsx';
import { TwoFactor } from './two-factor.tsx';
import { TwoFactorRegistration } from './two-factor-registration.tsx';

/** The screens of the second script, which the sign-in form does not need (load-later-screen.ts). */
export function LaterScreen() {
  const { page, place } = useApp();
  switch (page.serverPage?.name) {
    case 'signedIn':
      return <SignedIn {...page.serverPage} />;
    case 'signOutConfirm':
      return <SignOutConfirm {...page.serverPage} />;
    case 'notForYou':
      return <NotForYou {...page.serverPage} />;
    case 'problem':
      return <Problem {...page.serverPage} />;
    case 'recoveryCodes':
      return <RecoveryCodes {...page.serverPage} />;
    case 'signInOnceMore':
      return <SignInOnceMore {...page.serverPage} />;
    case 'registerElsewhere':
      return <RegisterElsewhere {...page.serverPage} />;
  }
  switch (place.screen.name) {
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
      return <TwoFactor />;
    case 'twoFactorRegistration':
      return <TwoFactorRegistration />;
    case 'loginFail':
      return <LoginFail type={place.screen.type} />;
    case 'notFound':
      return <NotFound />;
    case 'login':
      return null;
  }
}
