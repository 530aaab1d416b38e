import type { AccountView } from '#contract/account-page.ts';
import { useLanguage } from '../../messages.tsx';
import { useAccountText } from '../account-context.tsx';
import { timeInWords } from '../times.ts';

type Props = Extract<AccountView, { name: 'signIns' }>;

/** The last sign-ins with their outcome. */
export function SignIns({ signIns }: Props) {
  const text = useAccountText();
  const language = useLanguage();
  return (
    <>
      <p className="hint">{text('account-sign-ins-text')}</p>
      <ol className="entries">
        {signIns.map(({ at, outcome, address, provider, isByPasskey }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their order
          <li key={index}>
            <div className={outcome === 'signedIn' ? 'place' : 'place failed'}>
              <h2>{text(`account-outcome-${outcome}`)}</h2>
              <p>
                <time dateTime={at}>{timeInWords(at, language)}</time>
              </p>
              {address !== null && <p>{text('account-address', { address })}</p>}
              {provider !== null && <p>{text('account-by-provider', { provider })}</p>}
              {isByPasskey && <p>{text('account-by-passkey')}</p>}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}
