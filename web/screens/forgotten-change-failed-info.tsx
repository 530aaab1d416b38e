import { type ChangeFailedReason, reasonOfSearch } from '#contract/reasons.ts';
import { useMessage } from '../messages.tsx';
import { ForgottenLink } from '../parts/forgotten-link.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Reference } from '../parts/reference.tsx';
import { Seal } from '../parts/seal.tsx';
import { SupportLink } from '../parts/support-link.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { useVisit } from '../visit.ts';

type NextStep = 'choose' | 'newLink' | 'support';

/** The remedy for each refusal. */
const nextSteps: Record<ChangeFailedReason, NextStep> = {
  1: 'choose',
  2: 'newLink',
  3: 'newLink',
  4: 'newLink',
  5: 'choose',
  6: 'choose',
  7: 'support',
  8: 'support',
  9: 'choose',
  10: 'support',
  11: 'choose',
};

export function ForgottenChangeFailedInfo() {
  const message = useMessage();
  const { place } = useVisit();
  const reason = reasonOfSearch(place.search);
  const step = reason ? nextSteps[reason] : 'choose';
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede">{message(reason ? `changed-failed-page-error-${reason}` : 'changed-failed-page-error')}</p>
      <div className="stack">
        {step === 'choose' && <ChooseLink className="button" />}
        {step === 'newLink' && <ForgottenLink className="button" />}
        {step === 'support' && <SupportLink className="button" />}
        <p className="links">
          {step !== 'choose' && <ChooseLink />}
          <LoginLink />
          {step !== 'support' && <SupportLink />}
        </p>
        <Reference />
      </div>
    </>
  );
}

/** Only the server knows what is kept for this browser: the link, and its account. */
function ChooseLink({ className }: { className?: string | undefined }) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  return (
    <PortalLink className={className} href={toScreen('forgottenChange')} isDocument>
      {message('change-failed-choose')}
    </PortalLink>
  );
}
