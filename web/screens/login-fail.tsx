import { canonicalIpAddress } from '#contract/ip-address.ts';
import { noticeOfSearch } from '#contract/notices.ts';
import type { LoginFailType } from '#contract/reasons.ts';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { Fact } from '../parts/fact.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Reference } from '../parts/reference.tsx';
import { Seal } from '../parts/seal.tsx';
import { SupportLink } from '../parts/support-link.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

export function LoginFail({ type }: { type: LoginFailType }) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  const { place } = useVisit();
  // Nothing was mistyped by whoever pressed cancel.
  const isCancelled = noticeOfSearch(place.search) === 'signInCancelled';
  const isNetwork = type === 'ip';
  const isProviders = type === 'oidc' || type === 'saml';
  return (
    <>
      <Seal icon={isNetwork ? 'shield' : 'bang'} kind={isNetwork ? 'plain' : 'bad'} />
      <Heading />
      <p className="lede">
        {message(isProviders && isCancelled ? 'notice-signInCancelled-text' : `login-fail-${type}-text`)}
      </p>
      {type === 'default' && <p className="lede">{message('login-fail-default-wait')}</p>}
      <div className="stack">
        {isNetwork && <VisitorAddress />}
        <LoginLink className="button" />
        <p className="links">
          {isProviders && <PortalLink href={toScreen('singleSignOn')}>{message('sso-other')}</PortalLink>}
          <SupportLink text={isNetwork ? 'login-fail-ip-support' : 'contact-support'} />
        </p>
        <Reference />
      </div>
    </>
  );
}

/** Shown only when it is an address: anybody can write anything into a link (decisions §5). */
function VisitorAddress() {
  const message = useMessage();
  const { place } = useVisit();
  const address = canonicalIpAddress(parameterOf(place.search, queryNames.ipAddress) ?? '');
  return <Fact label={message('login-fail-ip-address')}>{address ?? message('unknown')}</Fact>;
}
