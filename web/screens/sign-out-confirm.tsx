import type { ServerPage } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';

type Props = Extract<ServerPage, { name: 'signOutConfirm' }>;

/**
 * Names who is signed in, when another site's link leads to sign-out (decisions §6), or when a provider has answered for
 * somebody else (decisions §9), who goes on to a destination.
 */
export function SignOutConfirm({ query, account }: Props) {
  const message = useMessage();
  const goesOn = query[queryNames.destination] !== undefined;
  return (
    <>
      <Heading />
      <p className="lede">{message('sign-out-text', { account })}</p>
      <PortalForm call="logoutConfirmed" query={query}>
        <SubmitButton>{message(goesOn ? 'sign-out-go-on' : 'sign-out-button')}</SubmitButton>
        <p className="links">
          <LoginLink>{message('sign-out-stay', { account })}</LoginLink>
        </p>
      </PortalForm>
    </>
  );
}
