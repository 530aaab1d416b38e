import type { ScreenOf } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import { Heading } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { Notice } from '../components/notice.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { LoginLink, SupportLink } from '../components/screen-links.tsx';
import { SignInOnceMoreForm } from '../components/sign-in-over.tsx';

/** The sign-in is too old, or covers only part of the account: an app is set up after another one, from another network, or not at all. */
export function RegisterElsewhere({ why, comesBackTo, goesOnTo, hasPasskey }: ScreenOf<'registerElsewhere'>) {
  const { message } = useApp();
  const helper = why !== 'provider' ? why : comesBackTo === null ? 'administrator' : 'password';
  const text = helper === 'tooOld' ? 'once-more-text' : (`register-elsewhere-${helper}` as const);
  return (
    <>
      <Heading seal="key">{message(text)}</Heading>
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
