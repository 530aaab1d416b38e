import { noticeOfSearch } from '#contract/notices.ts';
import type { PageScreen } from '#contract/page.ts';
import { useApp, useMessage } from '../app-context.ts';
import { EmailField } from '../components/checked-field.tsx';
import { ConnectionChoice } from '../components/connection-choice.tsx';
import { Heading, PageAccount } from '../components/heading.tsx';
import { LoginLink } from '../components/later-links.tsx';
import { Notice } from '../components/notice.tsx';
import { fieldValue, isFilled, PortalForm, RedirectField, SubmitButton } from '../components/portal-form.tsx';
import { Reference } from '../components/reference.tsx';

export function SingleSignOn({ connections }: Extract<PageScreen, { name: 'singleSignOn' }>) {
  const message = useMessage();
  const { place, typedUsername } = useApp();
  const notice = noticeOfSearch(place.search);
  if (notice === 'chooseConnection' && connections)
    return (
      <>
        <Heading />
        <p className="lede">{message('sso-choose-text')}</p>
        <PageAccount account={typedUsername.current} />
        <ConnectionChoice connections={connections} />
      </>
    );
  return (
    <>
      <Heading />
      <p className="lede">{message('sso-text')}</p>
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
