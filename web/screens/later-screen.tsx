import type { ComponentType } from 'react';
import type { PageScreen, ScreenOf } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import {
  EmailInfo,
  Forgotten,
  ForgottenChange,
  ForgottenChangedInfo,
  ForgottenChangeFailedInfo,
} from './forgotten.tsx';
import { LoginFail } from './login-fail.tsx';
import { NotForYou, NotFound, Problem } from './problem.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { SignedIn, SignOutConfirm } from './signed-in.tsx';
import { SingleSignOn } from './single-sign-on.tsx';
import { RegisterElsewhere, TwoFactor, TwoFactorRegistration } from './two-factor.tsx';

export { enlivenAccount } from '../account/enliven.tsx';

/** The screens of the second script, which the sign-in form does not need (current-screen.tsx). */
const screens: { [Name in Exclude<PageScreen['name'], 'login' | 'leaving'>]: ComponentType<ScreenOf<Name>> } = {
  singleSignOn: SingleSignOn,
  forgotten: Forgotten,
  emailInfo: EmailInfo,
  forgottenChange: ForgottenChange,
  forgottenChangedInfo: ForgottenChangedInfo,
  forgottenChangeFailedInfo: ForgottenChangeFailedInfo,
  twoFactor: TwoFactor,
  twoFactorRegistration: TwoFactorRegistration,
  loginFail: LoginFail,
  notFound: NotFound,
  signedIn: SignedIn,
  signOutConfirm: SignOutConfirm,
  notForYou: NotForYou,
  problem: Problem,
  recoveryCodes: RecoveryCodes,
  registerElsewhere: RegisterElsewhere,
};

export function LaterScreen() {
  const { screen } = useApp();
  const Screen = screens[screen.name as keyof typeof screens] as ComponentType<PageScreen>;
  return <Screen {...screen} />;
}
