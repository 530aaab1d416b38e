import type { AccountSession, AccountSignIn, ViewOf } from '#contract/account.ts';
import { useAccount } from '../account-context.tsx';
import { AccountForm, ClosedSection, Row } from '../account-form.tsx';
import { TextAt, Time } from '../times.tsx';

/** Where a person is signed in; each other session may be ended. */
export function Sessions({ sessions }: ViewOf<'sessions'>) {
  const { text } = useAccount();
  return (
    <>
      <p className="hint">{text('account-sessions-text')}</p>
      <ul className="rows">
        {sessions.map((session) => (
          <SessionRow key={session.id} {...session} />
        ))}
      </ul>
      {sessions.length > 1 && <AccountForm action="endOthers" button="account-sessions-end-others" look="quiet" />}
    </>
  );
}

export function SessionRow({ id, browser, address, signedInAt, lastSeenAt, provider, isThis }: AccountSession) {
  const { text, toSection } = useAccount();
  const name = browser ?? text('account-browser-unknown');
  const facts = [
    !isThis && <TextAt text="account-last-used" at={lastSeenAt} />,
    <TextAt key="in" text="account-signed-in-at" at={signedInAt} />,
    text('account-address', { address }),
    provider !== null && text('account-by-provider', { provider }),
  ];
  return (
    <Row name={name} mark={isThis && text('account-this')} facts={facts}>
      {!isThis && (
        <AccountForm action="end" of={toSection('sessions')} button="account-sessions-end" about={name} look="quiet">
          <input type="hidden" name="id" value={id} />
        </AccountForm>
      )}
    </Row>
  );
}

/** The browsers that are not asked for a code; each may be forgotten. */
export function Devices({ devices, isPart }: ViewOf<'devices'>) {
  const { text } = useAccount();
  if (isPart || devices.length === 0) return <ClosedSection why={isPart ? 'account-part' : 'account-devices-none'} />;
  return (
    <>
      <p className="hint">{text('account-devices-text')}</p>
      <ul className="rows">
        {devices.map(({ id, browser, address, lastUsedAt, endsAt, isThis }) => {
          const name = browser ?? text('account-browser-unknown');
          const facts = [
            <TextAt key="used" text="account-last-used" at={lastUsedAt} />,
            text('account-address', { address }),
            <TextAt key="until" text="account-until" at={endsAt} isDay />,
          ];
          return (
            <Row key={id} name={name} mark={isThis && text('account-this')} facts={facts}>
              <AccountForm action="forget" button="account-devices-forget" about={name} look="quiet">
                <input type="hidden" name="id" value={id} />
              </AccountForm>
            </Row>
          );
        })}
      </ul>
      {devices.length > 1 && <AccountForm action="forgetAll" button="account-devices-forget-all" look="quiet" />}
    </>
  );
}

export function SignIns({ signIns }: ViewOf<'signIns'>) {
  const { text } = useAccount();
  return (
    <>
      <p className="hint">{text('account-sign-ins-text')}</p>
      <SignInList signIns={signIns} />
    </>
  );
}

export function SignInList({ signIns }: { signIns: readonly AccountSignIn[] }) {
  const { text } = useAccount();
  return (
    <ol className="rows">
      {signIns.map(({ at, outcome, browser, address, provider, isByPasskey }, index) => (
        <Row
          // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their order
          key={index}
          mark={text(`account-outcome-${outcome}`)}
          tone={outcome === 'signedIn' ? 'good' : 'bad'}
          facts={[
            <Time key="at" at={at} />,
            [browser, address !== null && text('account-address', { address })].filter(Boolean).join(' · '),
            provider !== null && text('account-by-provider', { provider }),
            isByPasskey && text('account-by-passkey'),
          ]}
        />
      ))}
    </ol>
  );
}
