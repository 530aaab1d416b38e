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

/** The remedies; a better entry helps with the others. */
const needNewLink: readonly (ChangeFailedReason | null)[] = [2, 3, 4];
const needSupport: readonly (ChangeFailedReason | null)[] = [7, 8, 10];

export function ForgottenChangeFailedInfo() {
  const message = useMessage();
  const { place } = useVisit();
  const reason = reasonOfSearch(place.search);
  const isOfLink = needNewLink.includes(reason);
  const isOfAccount = needSupport.includes(reason);
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede">{message(reason ? `changed-failed-page-error-${reason}` : 'changed-failed-page-error')}</p>
      <div className="stack">
        {isOfLink ? (
          <ForgottenLink className="button" />
        ) : isOfAccount ? (
          <SupportLink className="button" />
        ) : (
          <ChooseLink className="button" />
        )}
        <p className="links">
          {(isOfLink || isOfAccount) && <ChooseLink />}
          <LoginLink />
          {!isOfAccount && <SupportLink />}
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
