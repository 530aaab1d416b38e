import { accountPath } from '#contract/account.ts';
import type { ScreenOf } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { Heading } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { PortalForm, SubmitButton } from '../components/portal-form.tsx';
import { Fact } from '../components/reference.tsx';
import { LoginLink } from '../components/screen-links.tsx';

/** Placeholder where no hub is configured. */
export function SignedIn({ person: { username, email, name, customers, groups } }: ScreenOf<'signedIn'>) {
  const { message } = useApp();
  return (
    <>
      <Heading icon="check" kind="good">
        {message('signed-in-greeting', { name: name ?? username })} {message('signed-in-text')}
      </Heading>
      <div className="stack">
        <div className="facts">
          <Fact label={message('signed-in-username')}>{username}</Fact>
          <Fact label={message('signed-in-email')}>{email}</Fact>
          {customers.length > 0 && <Fact label={message('signed-in-customers')}>{customers.join(', ')}</Fact>}
          {groups.length > 0 && <Fact label={message('signed-in-groups')}>{groups.join(', ')}</Fact>}
        </div>
      </div>
      <PortalForm call="logoutConfirmed">
        <SubmitButton isQuiet>{message('sign-out-button')}</SubmitButton>
      </PortalForm>
      <p className="links">
        <PortalLink href={useApp().page.rules.basePath + accountPath} isDocument>
          {message('your-account')}
        </PortalLink>
      </p>
    </>
  );
}

/** Names who is signed in, when another site leads to sign-out or a provider has answered for somebody else. */
export function SignOutConfirm({ query, account }: ScreenOf<'signOutConfirm'>) {
  const { message } = useApp();
  const goesOn = query[queryNames.destination] !== undefined;
  return (
    <>
      <Heading>{message('sign-out-text', { account })}</Heading>
      <PortalForm call="logoutConfirmed" query={query}>
        <SubmitButton>{message(goesOn ? 'sign-out-go-on' : 'sign-out-button')}</SubmitButton>
        <p className="links">
          <LoginLink>{message('sign-out-stay', { account })}</LoginLink>
        </p>
      </PortalForm>
    </>
  );
}
