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

/** After these another password helps, after these support; after the others, and without one, a new link. */
const choose: readonly unknown[] = [null, 1, 5, 6, 9, 11] satisfies (ChangeFailedReason | null)[];
const support: readonly unknown[] = [7, 8, 10] satisfies ChangeFailedReason[];

export function ForgottenChangeFailedInfo() {
  const message = useMessage();
  const { place } = useVisit();
  const reason = reasonOfSearch(place.search);
  const isToChoose = choose.includes(reason);
  const isForSupport = support.includes(reason);
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede">{message(reason ? `changed-failed-page-error-${reason}` : 'changed-failed-page-error')}</p>
      <div className="stack">
        {isToChoose && <ChooseLink className="button" />}
        {!isToChoose && !isForSupport && <ForgottenLink className="button" />}
        {isForSupport && <SupportLink className="button" />}
        <p className="links">
          {!isToChoose && <ChooseLink />}
          <LoginLink />
          {!isForSupport && <SupportLink />}
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
