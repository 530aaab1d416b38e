import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';

type Props = Extract<ServerPage, { name: 'signOutConfirm' }>;

/** Asks for confirmation when another site's link leads to sign-out (decisions §6). */
export function SignOutConfirm({ query }: Props) {
  const message = useMessage();
  return (
    <>
      <Heading />
      <p className="lede">{message('sign-out-text')}</p>
      <PortalForm call="logoutConfirmed" query={query}>
        <SubmitButton>{message('sign-out-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </PortalForm>
    </>
  );
}
