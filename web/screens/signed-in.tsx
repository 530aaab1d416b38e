import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { AccountLink } from '../parts/account-link.tsx';
import { Fact } from '../parts/fact.tsx';
import { Heading } from '../parts/heading.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { Seal } from '../parts/seal.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';

type Props = Extract<ServerPage, { name: 'signedIn' }>;

/** Placeholder where no hub is configured (decisions §10). */
export function SignedIn({ username, email, customers }: Props) {
  const message = useMessage();
  return (
    <>
      <Seal icon="check" kind="good" />
      <Heading />
      <p className="lede">{message('signed-in-text')}</p>
      <div className="stack">
        <div className="facts">
          <Fact label={message('signed-in-username')}>{username}</Fact>
          <Fact label={message('signed-in-email')}>{email}</Fact>
          {customers.length > 0 && <Fact label={message('signed-in-customers')}>{customers.join(', ')}</Fact>}
        </div>
      </div>
      <PortalForm call="logoutConfirmed">
        <SubmitButton isQuiet>{message('sign-out-button')}</SubmitButton>
      </PortalForm>
      <p className="links">
        <AccountLink />
      </p>
    </>
  );
}
