import { Fragment } from 'react';
import { useMessage } from '../messages.tsx';
import { AccountLink } from '../parts/account-link.tsx';
import { Fact } from '../parts/fact.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { SupportLink } from '../parts/support-link.tsx';
import { useVisit } from '../visit.ts';

const longestShownAddress = 200;

export function NotFound() {
  const message = useMessage();
  const { page, place } = useVisit();
  return (
    <>
      <svg
        className="numeral"
        width="140"
        height="60"
        viewBox="0 0 140 60"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.5"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        <path d="M32 60V2L2 42h40M53 60V19a17 17 0 0 1 34 0v41M128 60V2L98 42h40" />
      </svg>
      <Heading prefix="404: " />
      <p className="lede">{message('not-found-text')}</p>
      <div className="stack">
        <Fact label={message('not-found-address')}>
          {partsOfAddress(page.rules.origin + place.address).map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no identity but their order
            <Fragment key={index}>
              {index > 0 && <wbr />}
              {part}
            </Fragment>
          ))}
        </Fact>
        <LoginLink className="button" />
        <p className="links">
          <SupportLink />
          {page.hasAccount && <AccountLink />}
        </p>
      </div>
    </>
  );
}

/** The address, truncated, split where a line may break. */
function partsOfAddress(address: string): string[] {
  const shown = address.length > longestShownAddress ? `${address.slice(0, longestShownAddress)}…` : address;
  return shown.split(/(?<=[/?&])(?=[^/?&])/);
}
