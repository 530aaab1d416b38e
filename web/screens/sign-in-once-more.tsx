import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { SignInOnceMoreForm } from '../parts/sign-in-once-more-form.tsx';

type Props = Extract<ServerPage, { name: 'signInOnceMore' }>;

/** Signed in too long ago to set up an app: signs out, and returns here once signed in again. */
export function SignInOnceMore({ comesBackTo, goesOnTo }: Props) {
  const message = useMessage();
  return (
    <>
      <Seal icon="key" />
      <Heading />
      <p className="lede">{message('once-more-text')}</p>
      <SignInOnceMoreForm comesBackTo={comesBackTo} />
      <p className="links">
        <PortalLink href={goesOnTo}>{message('cancel')}</PortalLink>
      </p>
    </>
  );
}
