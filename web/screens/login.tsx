import { useEffect } from 'react';
import { useMessage } from '../messages.tsx';
import { CookiesBlocked } from '../parts/cookies-blocked.tsx';
import { Notice } from '../parts/notice.tsx';
import { PasskeyForm } from '../parts/passkey-form.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { RedirectField } from '../parts/redirect-field.tsx';
import { SignInForm } from '../parts/sign-in-form.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { TitleHeading } from '../parts/title-heading.tsx';
import { loginOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** Specification §9. */
const focusDelayMilliseconds = 100;

export function Login() {
  const message = useMessage();
  const { place, typedUsername } = useVisit();
  const username = loginOf(place.search) || typedUsername.current;

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the name that was there at first
  useEffect(() => {
    if (!username) return;
    const timer = setTimeout(() => {
      // A visitor who is already in a field stays there: they may be changing the name.
      if (!document.querySelector('form :focus')) document.getElementById('password')?.focus();
    }, focusDelayMilliseconds);
    return () => clearTimeout(timer);
  }, []);

  return (
    <>
      <TitleHeading titleKey="login-title" />
      <Notice />
      <CookiesBlocked />
      <SignInForm username={username} />
      <p className="or">{message('or')}</p>
      <PortalForm call="checkSsoLogin">
        <RedirectField name="redirectURLSSO" />
        <SubmitButton isQuiet>{message('login-sso')}</SubmitButton>
      </PortalForm>
      <PasskeyForm />
    </>
  );
}
