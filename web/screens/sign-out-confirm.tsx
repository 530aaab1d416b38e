import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';

type Props = Extract<ServerPage, { name: 'signOutConfirm' }>;

/**
 * Asks for confirmation when another site's link leads to sign-out (decisions §6), or when a provider has answered for
 * somebody else (decisions §9): then it names who is signed in, and they may go on.
 */
export function SignOutConfirm({ query, account }: Props) {
  const message = useMessage();
  return (
    <>
      <Heading />
      <p className="lede">{message(account ? 'sign-out-other-text' : 'sign-out-text', { account: account ?? '' })}</p>
      <PortalForm call="logoutConfirmed" query={query}>
        <SubmitButton>{message('sign-out-button')}</SubmitButton>
        <p className="links">
          <LoginLink>{account && message('sign-out-other-stay', { account })}</LoginLink>
        </p>
      </PortalForm>
    </>
  );
}
