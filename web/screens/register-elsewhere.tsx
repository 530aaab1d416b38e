import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { Notice } from '../parts/notice.tsx';
import { PasskeyForm } from '../parts/passkey-form.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { SignInOnceMoreForm } from '../parts/sign-in-once-more-form.tsx';
import { SupportLink } from '../parts/support-link.tsx';
import { useVisit } from '../visit.ts';

type Props = Extract<ServerPage, { name: 'registerElsewhere' }>;

/** The sign-in covers only part of the account: an app is set up with the password, from another network, or not at all: the passkey opens the account. */
export function RegisterElsewhere({ why, comesBackTo, goesOnTo }: Props) {
  const message = useMessage();
  const { page } = useVisit();
  return (
    <>
      <Seal icon="key" />
      <Heading />
      <p className="lede">{message(`register-elsewhere-${helperOf({ why, comesBackTo })}`)}</p>
      <Notice />
      {page.secondFactor?.hasPasskey && <PasskeyForm isSecondFactor />}
      {comesBackTo !== null && <SignInOnceMoreForm comesBackTo={comesBackTo} />}
      <p className="links">
        {goesOnTo === null ? <LoginLink /> : <PortalLink href={goesOnTo}>{message('cancel')}</PortalLink>}
        {comesBackTo === null && <SupportLink />}
      </p>
    </>
  );
}

function helperOf({ why, comesBackTo }: Pick<Props, 'why' | 'comesBackTo'>) {
  if (why !== 'provider') return why;
  return comesBackTo === null ? 'administrator' : 'password';
}
