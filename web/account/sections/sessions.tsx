import type { AccountSession, AccountView } from '#contract/account.ts';
import type { Language } from '#contract/languages.ts';
import { typeset } from '#contract/typeset.ts';
import { useApp } from '../../app-context.ts';
import { useAccountText } from '../account-context.tsx';
import { AccountForm, ClosedSection, Place } from '../account-form.tsx';

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
  const { language } = useApp();
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

type DevicesProps = Extract<AccountView, { name: 'devices' }>;

/** The browsers that are not asked for a code; each may be forgotten. */
export function Devices({ devices, isPart }: DevicesProps) {
  const text = useAccountText();
  const { language } = useApp();
  if (isPart || devices.length === 0) return <ClosedSection why={isPart ? 'account-part' : 'account-devices-none'} />;
  return (
    <>
      <p className="hint">{text('account-devices-text')}</p>
      <ul className="entries">
        {devices.map(({ id, browser, address, lastUsedAt, endsAt, isThis }) => (
          <li key={id}>
            <Place
              browser={browser}
              isThis={isThis}
              facts={[
                text('account-last-used', { time: timeInWords(lastUsedAt, language) }),
                text('account-address', { address }),
                text('account-until', { time: dayInWords(endsAt, language) }),
              ]}
            />
            <AccountForm action="forget" button="account-devices-forget" look="quiet small">
              <input type="hidden" name="id" value={id} />
            </AccountForm>
          </li>
        ))}
      </ul>
      {devices.length > 1 && <AccountForm action="forgetAll" button="account-devices-forget-all" look="quiet" />}
    </>
  );
}

type SignInsProps = Extract<AccountView, { name: 'signIns' }>;

/** The last sign-ins with their outcome. */
export function SignIns({ signIns }: SignInsProps) {
  const text = useAccountText();
  const { language } = useApp();
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
                <time dateTime={at.toISOString()}>{timeInWords(at, language)}</time>
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

const day = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
const minute = { ...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;

/** Making one takes longer than all else of an entry in a list, and keeps memory outside the heap. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** A time as people read it. Without a script nobody knows the reader's time zone: it is named, as in emails. */
export function timeInWords(time: Date, language: Language): string {
  return inWords(time, language, minute);
}

export function dayInWords(time: Date, language: Language): string {
  return inWords(time, language, day);
}

function inWords(time: Date, language: Language, options: typeof day | typeof minute): string {
  const key = `${language} ${options === minute}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, options);
  formats.set(key, format);
  return typeset(language, format.format(time));
}
