import type { ScreenOf } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import { EmailField } from '../components/checked-field.tsx';
import { Heading, PageAccount } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { Notice } from '../components/notice.tsx';
import {
  fieldValue,
  HiddenFields,
  isFilled,
  PortalForm,
  RedirectField,
  SubmitButton,
} from '../components/portal-form.tsx';
import { Reference } from '../components/reference.tsx';
import { LoginLink } from '../components/screen-links.tsx';

export function SingleSignOn({ connections }: ScreenOf<'singleSignOn'>) {
  const { message, typedUsername, notice, toScreen } = useApp();
  if (notice === 'chooseConnection' && connections)
    return (
      <>
        <Heading>{message('sso-choose-text')}</Heading>
        <PageAccount account={typedUsername.current} />
        <div className="stack">
          {connections.map(({ key, name }) => (
            <PortalForm key={key} call="performSsoLogin" word="signing-in">
              <HiddenFields of={Object.entries({ username: typedUsername.current, connection: key })} />
              <RedirectField />
              <SubmitButton isQuiet>{name}</SubmitButton>
            </PortalForm>
          ))}
          <p className="links">
            <PortalLink href={toScreen('singleSignOn')}>{message('sso-other')}</PortalLink>
          </p>
        </div>
      </>
    );
  return (
    <>
      <Heading>{message('sso-text')}</Heading>
      <Notice />
      <PortalForm
        call="performSsoLogin"
        word="signing-in"
        isReady={(form) => isFilled(form, 'username') && !/^\s+$/.test(fieldValue(form, 'username'))}
      >
        <EmailField />
        <RedirectField />
        <SubmitButton>{message('sso-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </PortalForm>
      <Reference />
    </>
  );
}
