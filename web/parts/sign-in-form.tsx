import { useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { useVisit } from '../visit.ts';
import { isFilled } from './field-value.ts';
import { PasswordField } from './password-field.tsx';
import { PortalForm } from './portal-form.tsx';
import { PortalLink } from './portal-link.tsx';
import { RedirectField } from './redirect-field.tsx';
import { SubmitButton } from './submit-button.tsx';
import { TextField } from './text-field.tsx';

/** Name and password, sent with the destination. */
export function SignInForm({ username, takesFocus = false }: { username: string; takesFocus?: boolean }) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  const { typedUsername } = useVisit();
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
        autoComplete="username"
        required
        defaultValue={username}
        autoFocus={takesFocus}
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
  );
}
