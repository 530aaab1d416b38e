import { type ChangeFailedReason, reasonOfSearch } from '#contract/reasons.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Reference } from '../parts/reference.tsx';
import { Seal } from '../parts/seal.tsx';
import { SupportLink } from '../parts/support-link.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { useVisit } from '../visit.ts';

type NextStep = 'choose' | 'newLink' | 'support';

/** What helps after each refusal. */
const nextSteps: Record<ChangeFailedReason, NextStep> = {
  1: 'choose',
  2: 'newLink',
  3: 'newLink',
  4: 'newLink',
  5: 'choose',
  6: 'newLink',
  7: 'support',
  8: 'support',
  9: 'choose',
  10: 'support',
  11: 'choose',
};

export function ForgottenChangeFailedInfo() {
  const message = useMessage();
  const { place } = useVisit();
  const { toScreen } = usePortalUrls();
  const reason = reasonOfSearch(place.search);
  const step = reason ? nextSteps[reason] : 'choose';
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede">{message(reason ? `changed-failed-page-error-${reason}` : 'changed-failed-page-error')}</p>
      <div className="stack">
        {step === 'newLink' && (
          <PortalLink className="button" href={toScreen('forgotten')}>
            {message('change-failed-new-link')}
          </PortalLink>
        )}
        {step === 'support' && <SupportLink className="button" />}
        <PortalLink className={step === 'choose' ? 'button' : 'button quiet'} href={toScreen('forgottenChange')}>
          {message('change-failed-choose')}
        </PortalLink>
        <p className="links">
          <LoginLink />
          {step !== 'support' && <SupportLink />}
        </p>
        <Reference />
      </div>
    </>
  );
}
