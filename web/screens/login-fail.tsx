import { canonicalIpAddress } from '#contract/addresses.ts';
import { providerNotice } from '#contract/notices.ts';
import type { LoginFailType } from '#contract/reasons.ts';
import { queryNames } from '#contract/screens.ts';
import { parameterOf } from '../addresses.ts';
import { useApp, useMessage, usePortalUrls } from '../app-context.ts';
import { Heading } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { Fact, Reference } from '../components/reference.tsx';
import { LoginLink, SupportLink } from '../components/screen-links.tsx';
import { Seal } from '../components/seal.tsx';
import { SignInForm } from '../components/sign-in-form.tsx';

export function LoginFail({ type }: { type: LoginFailType }) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  const { place, typedUsername } = useApp();
  const isDefault = type === 'default';
  const isNetwork = type === 'ip';
  const isProviders = type === 'oidc' || type === 'saml';
  const notice = providerNotice(type, place.search);
  return (
    <>
      <Seal icon={isNetwork ? 'shield' : 'bang'} kind={isNetwork ? 'plain' : 'bad'} />
      <Heading />
      <p className="lede" id="why">
        {message(notice ? `notice-${notice}-text` : `login-fail-${type}-text`)}
      </p>
      {isDefault && <p className="lede">{message('login-fail-default-wait')}</p>}
      {/* A password manager takes a page without the form for a successful sign-in and offers to save the password. */}
      {isDefault && <SignInForm username={typedUsername.current} why="why" />}
      <div className="stack">
        {isNetwork && <VisitorAddress />}
        {!isDefault && <LoginLink className="button" />}
        <p className="links">
          {isDefault && <LoginLink />}
          {isProviders && <PortalLink href={toScreen('singleSignOn')}>{message('sso-other')}</PortalLink>}
          <SupportLink text={isNetwork ? 'login-fail-ip-support' : 'contact-support'} />
        </p>
        <Reference />
      </div>
    </>
  );
}

/** Shown only if it is a valid address: anyone can put anything into a link. */
function VisitorAddress() {
  const message = useMessage();
  const { place } = useApp();
  const address = canonicalIpAddress(parameterOf(place.search, queryNames.ipAddress) ?? '');
  return <Fact label={message('login-fail-ip-address')}>{address ?? message('unknown')}</Fact>;
}
