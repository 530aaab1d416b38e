import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';

/** Asks for confirmation when another site's link leads to sign-out (decisions §6). */
export function SignOutConfirm() {
  const message = useMessage();
  return (
    <>
      <Heading />
      <p className="lede">{message('sign-out-text')}</p>
      <PortalForm call="logoutConfirmed">
        <SubmitButton>{message('sign-out-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </PortalForm>
    </>
  );
}
