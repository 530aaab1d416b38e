import type { ScreenOf } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import { Heading } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { Notice } from '../components/notice.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { LoginLink, SupportLink } from '../components/screen-links.tsx';
import { SignInOnceMoreForm } from '../components/sign-in-over.tsx';

/** The sign-in covers only part of the account: an app is set up with the password, from another network, or not at all: the passkey opens the account. */
export function RegisterElsewhere({ why, comesBackTo, goesOnTo, hasPasskey }: ScreenOf<'registerElsewhere'>) {
  const { message } = useApp();
  const helper = why !== 'provider' ? why : comesBackTo === null ? 'administrator' : 'password';
  return (
    <>
      <Heading seal="key">{message(`register-elsewhere-${helper}`)}</Heading>
      <Notice />
      {hasPasskey && <PasskeyForm isSecondFactor />}
      {comesBackTo !== null && <SignInOnceMoreForm comesBackTo={comesBackTo} />}
      <p className="links">
        {goesOnTo === null ? <LoginLink /> : <PortalLink href={goesOnTo}>{message('cancel')}</PortalLink>}
        {comesBackTo === null && <SupportLink />}
      </p>
    </>
  );
}

/** Signed in too long ago to set up an app: signs out, and returns here once signed in again. */
export function SignInOnceMore({ comesBackTo, goesOnTo }: ScreenOf<'signInOnceMore'>) {
  const { message } = useApp();
  return (
    <>
      <Heading seal="key">{message('once-more-text')}</Heading>
      <SignInOnceMoreForm comesBackTo={comesBackTo} />
      <p className="links">
        <PortalLink href={goesOnTo}>{message('cancel')}</PortalLink>
      </p>
    </>
  );
}
