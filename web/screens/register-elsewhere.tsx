import { useEffect } from 'react';
import type { ScreenOf } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { Heading } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { Notice } from '../components/notice.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { PortalForm, SubmitButton } from '../components/portal-form.tsx';
import { LoginLink, SupportLink } from '../components/screen-links.tsx';

/** The sign-in is too old, or covers only part of the account: an app is set up after another one, from another network, or not at all. */
export function RegisterElsewhere({ why, comesBackTo, goesOnTo, hasPasskey }: ScreenOf<'registerElsewhere'>) {
  const { message } = useApp();
  const helper = why !== 'provider' ? why : comesBackTo === null ? 'administrator' : 'password';
  const text = helper === 'tooOld' ? 'once-more-text' : (`register-elsewhere-${helper}` as const);
  return (
    <>
      <Heading icon="key">{message(text)}</Heading>
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

/** Signs out a user who signed in too long ago to set up an app, and returns here once they are signed in again. */
function SignInOnceMoreForm({ comesBackTo }: { comesBackTo: string }) {
  const { message, save } = useApp();

  // biome-ignore lint/correctness/useExhaustiveDependencies: once; what the tab remembers would lead past this page
  useEffect(() => save({ loginHashFragment: null, redirectOldWebbundleUrl: null }), []);

  return (
    <PortalForm call="logoutConfirmed" query={{ [queryNames.destination]: comesBackTo }}>
      <SubmitButton>{message('once-more-button')}</SubmitButton>
    </PortalForm>
  );
}
