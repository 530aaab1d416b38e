import type { AccountView } from '#contract/account-page.ts';
import { useLanguage } from '../../messages.tsx';
import { otpauthAddress } from '../../otpauth-address.ts';
import { TextField } from '../../parts/text-field.tsx';
import { useAccount, useSectionUrl } from '../account-context.ts';
import { AccountForm } from '../account-form.tsx';
import { useAccountText } from '../account-texts.tsx';
import { Cancel } from '../cancel.tsx';
import { ClosedSection } from '../closed-section.tsx';
import { dayInWords } from '../times.ts';

type Props = Extract<AccountView, { name: 'app' }>;

/** The authenticator app: set up, replace, remove. */
export function App({ since, isRequired, isPart, next }: Props) {
  const text = useAccountText();
  const language = useLanguage();
  const { begun } = useAccount();
  const toSection = useSectionUrl();
  if (isPart) return <ClosedSection why="account-part" />;
  if (since === null)
    return (
      <>
        <p className="hint">{text('account-app-why')}</p>
        <AccountForm action="setUp" button="account-app-button-set-up" />
      </>
    );
  if (next) return <NextApp {...next} />;
  if (begun === 'replace' || (begun === 'remove' && !isRequired))
    return (
      <>
        <p className="hint">{text(`account-app-${begun}-text`)}</p>
        <AccountForm action={begun} button={`account-app-button-${begun}`} />
        <Cancel />
      </>
    );
  return (
    <>
      <p className="hint">{text('account-app-since', { time: dayInWords(since, language) })}</p>
      <div className="stack">
        <a className="button" href={toSection('app', 'replace')}>
          {text('account-app-button-replace')}
        </a>
        {isRequired ? (
          <p className="hint">{text('account-app-required')}</p>
        ) : (
          <a className="button quiet" href={toSection('app', 'remove')}>
            {text('account-app-button-remove')}
          </a>
        )}
      </div>
    </>
  );
}

function NextApp({ url, totpSecret, issuer }: NonNullable<Props['next']>) {
  const text = useAccountText();
  const { username } = useAccount();
  const groups = totpSecret.match(/.{1,4}/g) ?? [];
  return (
    <>
      <p className="hint">{text('account-app-replace-text')}</p>
      <AccountForm action="replace" button="account-app-button-replace">
        <ol className="steps">
          <li>
            <h2>{text('registration-scan')}</h2>
            <div className="qr">
              <a className="button quiet small on-touch" href={otpauthAddress(totpSecret, issuer, username)}>
                {text('registration-open')}
              </a>
              <img src={url} width="160" height="160" alt={text('registration-qr')} />
              <div>
                <p className="hint">{text('registration-manual')}</p>
                <p className="secret" translate="no">
                  {groups.map((group, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the groups have no identity but their order
                    <span key={index}>{group} </span>
                  ))}
                </p>
              </div>
            </div>
          </li>
          <li>
            <h2>{text('registration-enter')}</h2>
            <TextField
              id="code"
              name="code"
              label={text('account-app-code')}
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              maxLength={7}
            />
          </li>
        </ol>
      </AccountForm>
      <Cancel />
    </>
  );
}
