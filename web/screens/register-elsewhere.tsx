import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { SignInOnceMoreForm } from '../parts/sign-in-once-more-form.tsx';
import { SupportLink } from '../parts/support-link.tsx';

type Props = Extract<ServerPage, { name: 'registerElsewhere' }>;

/** The provider speaks only for part of the account: an app is set up after a sign-in with the password. */
export function RegisterElsewhere({ comesBackTo, goesOnTo }: Props) {
  const message = useMessage();
  return (
    <>
      <Seal icon="key" />
      <Heading />
      <p className="lede">
        {message(comesBackTo === null ? 'register-elsewhere-administrator' : 'register-elsewhere-password')}
      </p>
      {comesBackTo !== null && <SignInOnceMoreForm comesBackTo={comesBackTo} />}
      <p className="links">
        {goesOnTo === null ? <LoginLink /> : <PortalLink href={goesOnTo}>{message('cancel')}</PortalLink>}
        {comesBackTo === null && <SupportLink />}
      </p>
    </>
  );
}
