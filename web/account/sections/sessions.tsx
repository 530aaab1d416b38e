import type { AccountSession, AccountView } from '#contract/account-page.ts';
import { useLanguage } from '../../messages.tsx';
import { useAccountText } from '../account-context.tsx';
import { AccountForm } from '../account-form.tsx';
import { Place } from '../place-entry.tsx';
import { timeInWords } from '../times.ts';

type Props = Extract<AccountView, { name: 'sessions' }>;

/** Where a person is signed in; each other session may be ended. */
export function Sessions({ sessions }: Props) {
  const text = useAccountText();
  return (
    <>
      <p className="hint">{text('account-sessions-text')}</p>
      <ul className="entries">
        {sessions.map((session) => (
          <Entry key={session.id} {...session} />
        ))}
      </ul>
      {sessions.length > 1 && <AccountForm action="endOthers" button="account-sessions-end-others" look="quiet" />}
    </>
  );
}

function Entry({ id, browser, address, signedInAt, lastSeenAt, provider, isThis }: AccountSession) {
  const text = useAccountText();
  const language = useLanguage();
  const facts = [
    text('account-last-used', { time: timeInWords(lastSeenAt, language) }),
    text('account-signed-in-at', { time: timeInWords(signedInAt, language) }),
    text('account-address', { address }),
    ...(provider === null ? [] : [text('account-by-provider', { provider })]),
  ];
  return (
    <li>
      <Place browser={browser} isThis={isThis} facts={facts} />
      {!isThis && (
        <AccountForm action="end" button="account-sessions-end" look="quiet small">
          <input type="hidden" name="id" value={id} />
        </AccountForm>
      )}
    </li>
  );
}
