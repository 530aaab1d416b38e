import { useApp, useMessage, usePortalUrls } from '../app-context.ts';
import { PortalLink } from './links.tsx';
import { isFilled, PortalForm, RedirectField, SubmitButton } from './portal-form.tsx';
import { PasswordField, TextField } from './text-field.tsx';

/**
 * Name and password, sent with the destination. `why`: the id of the text that says why the form is shown again, read
 * out with the field that takes the focus.
 */
export function SignInForm({ username, why }: { username: string; why?: string }) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  const { typedUsername } = useApp();
  return (
    <PortalForm
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
        <PortalLink className="aside" href={toScreen('forgotten')}>
          {message('login-forgotten')}
        </PortalLink>
      </PasswordField>
      <RedirectField />
      <SubmitButton>{message('login-button')}</SubmitButton>
    </PortalForm>
  );
}
