import { useEffect } from 'react';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { CookiesBlocked } from '../parts/cookies-blocked.tsx';
import { isFilled } from '../parts/field-value.ts';
import { Heading } from '../parts/heading.tsx';
import { Notice } from '../parts/notice.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { RedirectField } from '../parts/redirect-field.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { TextField } from '../parts/text-field.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** Specification §9. */
const focusDelayMilliseconds = 100;

export function Login() {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  const { place, typedUsername } = useVisit();
  const username = parameterOf(place.search, queryNames.login) || typedUsername.current;

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the name that was there at first
  useEffect(() => {
    if (!username) return;
    const timer = setTimeout(() => document.getElementById('password')?.focus(), focusDelayMilliseconds);
    return () => clearTimeout(timer);
  }, []);

  return (
    <>
      <Heading />
      <Notice />
      <CookiesBlocked />
      <PortalForm
        call="performLogin"
        word="signing-in"
        isReady={(form) => isFilled(form, 'username') && isFilled(form, 'password')}
      >
        <TextField
          id="username"
          name="username"
          label={message('login-username')}
          autoComplete="username"
          required
          defaultValue={username}
          autoFocus={!username}
          onInput={(event) => {
            typedUsername.current = event.currentTarget.value;
          }}
        />
        <PasswordField id="password" label={message('login-password')} autoComplete="current-password">
          <PortalLink className="aside" href={toScreen('forgotten')}>
            {message('login-forgotten')}
          </PortalLink>
        </PasswordField>
        <RedirectField />
        <SubmitButton>{message('login-button')}</SubmitButton>
      </PortalForm>
      <p className="or">{message('or')}</p>
      <PortalForm call="checkSsoLogin">
        <RedirectField name="redirectURLSSO" />
        <SubmitButton isQuiet>{message('login-sso')}</SubmitButton>
      </PortalForm>
    </>
  );
}
