import type { AccountView } from '#contract/account-page.ts';
import { useLanguage } from '../../messages.tsx';
import { useAccountText } from '../account-context.tsx';
import { AccountForm, ClosedSection } from '../account-form.tsx';
import { Place } from '../place-entry.tsx';
import { dayInWords, timeInWords } from '../times.ts';

type Props = Extract<AccountView, { name: 'devices' }>;

/** The browsers that are not asked for a code; each may be forgotten. */
export function Devices({ devices, isPart }: Props) {
  const text = useAccountText();
  const language = useLanguage();
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
