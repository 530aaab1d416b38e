import type { ReactNode } from 'react';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import { useApp } from '../app-context.ts';
import { OnceScripted } from '../is-scripted.tsx';
import { CopyButton } from './copy-button.tsx';
import { Heading } from './heading.tsx';
import { PortalLink } from './links.tsx';
import { Alert } from './notice.tsx';
import { ExitLink } from './screen-links.tsx';

type OfKey = {
  /** The name that the app shows beside that of the hub; without one nothing opens an app. */
  account: string | undefined;
  /** Absent where no script of React's ever runs. */
  canCopy?: true;
};
type Props = OfKey & { registration: RegistrationAnswer | undefined; children: ReactNode };

/** Scan or type the key; then enter what the app shows. */
export function RegistrationSteps({ registration, children, ...key }: Props) {
  const { message } = useApp();
  return (
    <ol className="steps">
      <li>
        <h2>{message('registration-scan')}</h2>
        {registration ? (
          <Key {...registration} {...key} />
        ) : (
          <div className="qr">
            <noscript>
              <p>{message('registration-no-script')}</p>
            </noscript>
          </div>
        )}
      </li>
      <li>
        <h2>{message('registration-enter')}</h2>
        {children}
      </li>
    </ol>
  );
}

function Key({ url, totpSecret, account, canCopy }: RegistrationAnswer & OfKey) {
  const { message, page } = useApp();
  return (
    <div className="qr">
      {account && (
        <a className="button quiet small on-touch" href={otpauthAddress(totpSecret, page.branding.name, account)}>
          {message('registration-open')}
        </a>
      )}
      <img src={url} width="144" height="144" alt={message('registration-qr')} />
      <div>
        <p className="hint">{message('registration-manual')}</p>
        {/* Grouped in fours for readability; the copied key has no spaces. */}
        <p className="secret" translate="no">
          {totpSecret.replace(/.{4}(?=.)/g, '$& ')}
        </p>
        {canCopy && (
          <OnceScripted>
            <CopyButton text={totpSecret} name={message('registration-copy')} />
          </OnceScripted>
        )}
      </div>
    </div>
  );
}

// Announced without a user action: the screen was to show a code.
const urgent = {};

export function RegistrationUnavailable() {
  const { message, place } = useApp();
  return (
    <>
      <Heading />
      <Alert kind="bad" title={message('registration-unavailable-title')} answerTo={urgent}>
        {message('twofa-qr-code-unavailable')}
      </Alert>
      <div className="stack">
        <PortalLink className="button" href={place.address} isDocument>
          {message('reload')}
        </PortalLink>
        <ExitLink textKey="cancel" />
      </div>
    </>
  );
}

/** The address that opens an authenticator app and adds the account; separator colons are dropped from both names. */
export function otpauthAddress(secret: string, issuer: string, account: string): string {
  const plain = (text: string) => encodeURIComponent(text.replaceAll(':', ' ').replace(/\p{Surrogate}/gu, '\ufffd'));
  return `otpauth://totp/${plain(issuer)}:${plain(account)}?secret=${plain(secret)}&issuer=${plain(issuer)}`;
}
