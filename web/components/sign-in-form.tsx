import { useApp } from '../app-context.ts';
import { PortalLink } from './links.tsx';
import { PasskeyForm } from './passkey-form.tsx';
import { isFilled, PortalForm, RedirectField, SubmitButton, useRedirectValue } from './portal-form.tsx';
import { PasswordField, TextField } from './text-field.tsx';

const formId = 'sign-in';

/** Name and password, and the other ways in. `why`: the id of the text that says why the form is shown again. */
export function SignInForm({ username, why }: { username: string; why?: string }) {
  const { message, toScreen, typedUsername } = useApp();
  return (
    <>
      <PortalForm
        id={formId}
        call="performLogin"
        word="signing-in"
        isReady={(form) => isFilled(form, 'username') && isFilled(form, 'password')}
      >
        <TextField
          id="username"
          name="username"
          label={message('login-username')}
          autoComplete="username webauthn"
          required
          defaultValue={username}
          autoFocus={!username}
          onInput={(event) => {
            typedUsername.current = event.currentTarget.value;
          }}
        />
        <PasswordField
          id="password"
          label={message('login-password')}
          autoComplete="current-password"
          autoFocus={Boolean(why && username)}
          aria-describedby={why}
        >
          <RedirectField />
          <SubmitButton>{message('login-button')}</SubmitButton>
          <PortalLink className="aside" href={toScreen('forgotten')}>
            {message('login-forgotten')}
          </PortalLink>
        </PasswordField>
      </PortalForm>
      <p className="or">{message('or')}</p>
      <div className="pair">
        <SsoButton />
        <PasskeyForm />
      </div>
    </>
  );
}

/** Sends the typed name along, for the form that asks for an address; without a script the password too, which nobody reads. */
function SsoButton() {
  const { message, toCall } = useApp();
  return (
    <button
      className="button quiet"
      type="submit"
      form={formId}
      formAction={toCall('checkSsoLogin')}
      formNoValidate
      name="redirectURLSSO"
      value={useRedirectValue()}
      onClick={({ currentTarget }) => {
        const password = currentTarget.form?.elements.namedItem('password');
        if (password instanceof HTMLInputElement) password.value = '';
      }}
    >
      {message('login-sso')}
    </button>
  );
}
