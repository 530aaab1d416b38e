import type { ReactNode } from 'react';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import { useMessage } from '../messages.tsx';
import { CopyButton } from './copy-button.tsx';

type Props = { registration: RegistrationAnswer | null; onBroken: () => void; children: ReactNode };

/** Scan, or type the key; then enter what the app shows. */
export function RegistrationSteps({ registration, onBroken, children }: Props) {
  const message = useMessage();
  return (
    <ol className="steps">
      <li>
        <h2>{message('registration-scan')}</h2>
        <div className="qr">
          {registration ? (
            <img src={registration.url} width="160" height="160" alt={message('registration-qr')} onError={onBroken} />
          ) : (
            <div className="qr-empty" />
          )}
          <div>
            <p className="hint">{message('registration-manual')}</p>
            {registration && <Secret text={registration.totpSecret} />}
          </div>
        </div>
      </li>
      <li>
        <h2>{message('registration-enter')}</h2>
        {children}
      </li>
    </ol>
  );
}

/** Grouped in fours for reading; the copy has no spaces. */
function Secret({ text }: { text: string }) {
  const message = useMessage();
  const groups = text.match(/.{1,4}/g) ?? [];
  return (
    <>
      <p className="secret" translate="no">
        {groups.map((group, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the groups have no identity but their order
          <span key={index}>{group} </span>
        ))}
      </p>
      <CopyButton text={text} label={message('registration-copy')} />
    </>
  );
}
