import { useApp } from '../app-context.ts';
import { EmailInfo, Forgotten, ForgottenChangedInfo } from './forgotten.tsx';
import { ForgottenChange, ForgottenChangeFailedInfo } from './forgotten-change.tsx';
import { LoginFail } from './login-fail.tsx';
import { NotForYou, NotFound, Problem } from './problem.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { RegisterElsewhere, SignInOnceMore } from './register-elsewhere.tsx';
import { SignedIn, SignOutConfirm } from './signed-in.tsx';
import { SingleSignOn } from './single-sign-on.tsx';
import { TwoFactor, TwoFactorRegistration } from './two-factor.tsx';

export { enlivenAccount } from '../account/enliven.tsx';

/** The screens of the second script, which the sign-in form does not need (current-screen.tsx). */
export function LaterScreen() {
  const { screen } = useApp();
  switch (screen.name) {
    case 'singleSignOn':
      return <SingleSignOn {...screen} />;
    case 'forgotten':
      return <Forgotten />;
    case 'emailInfo':
      return <EmailInfo />;
    case 'forgottenChange':
      return <ForgottenChange {...screen} />;
    case 'forgottenChangedInfo':
      return <ForgottenChangedInfo />;
    case 'forgottenChangeFailedInfo':
      return <ForgottenChangeFailedInfo />;
    case 'twoFactor':
      return <TwoFactor />;
    case 'twoFactorRegistration':
      return <TwoFactorRegistration {...screen} />;
    case 'loginFail':
      return <LoginFail {...screen} />;
    case 'notFound':
      return <NotFound />;
    case 'signedIn':
      return <SignedIn {...screen} />;
    case 'signOutConfirm':
      return <SignOutConfirm {...screen} />;
    case 'notForYou':
      return <NotForYou {...screen} />;
    case 'problem':
      return <Problem {...screen} />;
    case 'recoveryCodes':
      return <RecoveryCodes {...screen} />;
    case 'signInOnceMore':
      return <SignInOnceMore {...screen} />;
    case 'registerElsewhere':
      return <RegisterElsewhere {...screen} />;
    case 'login':
    case 'leaving':
      return null;
  }
}
