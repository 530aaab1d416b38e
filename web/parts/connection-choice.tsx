import { useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { useVisit } from '../visit.ts';
import { PortalForm } from './portal-form.tsx';
import { PortalLink } from './portal-link.tsx';
import { RedirectField } from './redirect-field.tsx';
import { SubmitButton } from './submit-button.tsx';

/** One button for each provider that matches the typed address. */
export function ConnectionChoice({ connections }: { connections: { key: string; name: string }[] }) {
  const message = useMessage();
  const { typedUsername } = useVisit();
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
