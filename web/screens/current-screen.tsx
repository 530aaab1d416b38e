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
import { SingleSignOn } from './single-sign-on.tsx';

/** The screen of the current place. `LaterScreen` is set if the place needs it. */
export function CurrentScreen({ LaterScreen }: { LaterScreen: ComponentType | null }) {
  const { page, place } = useVisit();
  if (page.serverPage?.name === 'leaving') return <Leaving {...page.serverPage} />;
  if (page.serverPage) return LaterScreen && <LaterScreen />;
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
      return LaterScreen && <LaterScreen />;
    case 'loginFail':
      return <LoginFail type={place.screen.type} />;
    case 'notFound':
      return <NotFound />;
  }
}
