import { useApp, useMessage, usePortalUrls } from '../app-context.ts';
import { PortalLink } from './links.tsx';
import { PortalForm, RedirectField, SubmitButton } from './portal-form.tsx';

/** One button for each provider that matches the typed address. */
export function ConnectionChoice({ connections }: { connections: { key: string; name: string }[] }) {
  const message = useMessage();
  const { typedUsername } = useApp();
  const { toScreen } = usePortalUrls();
  return (
    <div className="stack">
      {connections.map(({ key, name }) => (
        <PortalForm key={key} call="performSsoLogin" word="signing-in">
          <input type="hidden" name="username" value={typedUsername.current} />
          <input type="hidden" name="connection" value={key} />
          <RedirectField />
          <SubmitButton isQuiet>{name}</SubmitButton>
        </PortalForm>
      ))}
      <p className="links">
        <PortalLink href={toScreen('singleSignOn')}>{message('sso-other')}</PortalLink>
      </p>
    </div>
  );
}
