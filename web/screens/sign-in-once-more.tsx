import { useEffect } from 'react';
import type { ServerPage } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { useVisit } from '../visit.ts';

type Props = Extract<ServerPage, { name: 'signInOnceMore' }>;

/** Signed in too long ago to set up an app: signs out, and comes back here once signed in again. */
export function SignInOnceMore({ comesBackTo, goesOnTo }: Props) {
  const message = useMessage();
  const { save } = useVisit();

  // biome-ignore lint/correctness/useExhaustiveDependencies: once; what the tab remembers would lead past this page
  useEffect(() => save({ loginHashFragment: null, redirectOldWebbundleUrl: null }), []);

  return (
    <>
      <Seal icon="key" />
      <Heading />
      <p className="lede">{message('once-more-text')}</p>
      <PortalForm call="logoutConfirmed" query={{ [queryNames.destination]: comesBackTo }}>
        <SubmitButton>{message('once-more-button')}</SubmitButton>
      </PortalForm>
      <p className="links">
        <PortalLink href={goesOnTo}>{message('cancel')}</PortalLink>
      </p>
    </>
  );
}
