import { noticeOfSearch } from '#contract/notices.ts';
import { useMessage } from '../messages.tsx';
import { ConnectionChoice } from '../parts/connection-choice.tsx';
import { EmailField } from '../parts/email-field.tsx';
import { fieldValue, isFilled } from '../parts/field-value.ts';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageAccount } from '../parts/page-account.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { RedirectField } from '../parts/redirect-field.tsx';
import { Reference } from '../parts/reference.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { useVisit } from '../visit.ts';

export function SingleSignOn() {
  const message = useMessage();
  const { page, place, typedUsername } = useVisit();
  const notice = noticeOfSearch(place.search);
  if (notice === 'chooseConnection' && page.connections)
    return (
      <>
        <Heading />
        <p className="lede">{message('sso-choose-text')}</p>
        <PageAccount account={typedUsername.current} />
        <ConnectionChoice connections={page.connections} />
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
