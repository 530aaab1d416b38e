import type { ReactNode } from 'react';
import { canonicalIpAddress } from '#contract/addresses.ts';
import { providerNotice } from '#contract/notices.ts';
import type { LoginFailType } from '#contract/reasons.ts';
import { useApp } from '../app-context.ts';
import { Heading } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { Alert } from '../components/notice.tsx';
import { Fact, SupportLine } from '../components/reference.tsx';
import { LoginLink } from '../components/screen-links.tsx';
import { SignInForm } from '../components/sign-in-form.tsx';

export function LoginFail({ type }: { type: LoginFailType }) {
  const { message, toScreen, place, asked } = useApp();
  if (type === 'default') return <SignInAgain>{message('login-fail-default-text')}</SignInAgain>;
  const isNetwork = type === 'ip';
  const isProviders = type === 'oidc' || type === 'saml';
  const notice = providerNotice(type, place.search);
  // Only if it is one: anyone can put anything into a link.
  const address = canonicalIpAddress(asked('ipAddress') ?? '');
  return (
    <>
      <Heading icon={isNetwork ? 'shield' : 'bang'} kind={isNetwork ? 'plain' : 'bad'}>
        {message(notice ? `notice-${notice}-text` : `login-fail-${type}-text`)}
      </Heading>
      <div className="stack">
        {isNetwork && <Fact label={message('login-fail-ip-address')}>{address ?? message('unknown')}</Fact>}
        <LoginLink className="button" />
        <SupportLine text={isNetwork ? 'login-fail-ip-support' : undefined}>
          {isProviders && <PortalLink href={toScreen('singleSignOn')}>{message('sso-other')}</PortalLink>}
        </SupportLine>
      </div>
    </>
  );
}

/** Not without the form: a password manager would take the page for a success and offer to save the password. */
export function SignInAgain({ children }: { children: ReactNode }) {
  const { typedUsername } = useApp();
  return (
    <>
      <Heading />
      <Alert kind="bad" id="why">
        {children}
      </Alert>
      <SignInForm username={typedUsername.current} why="why" />
      <SupportLine />
    </>
  );
}
