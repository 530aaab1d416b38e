import type { ReactNode } from 'react';
import { goodNotices } from '#contract/account-page.ts';
import { Alert } from '../components/notice.tsx';
import { Reference } from '../components/reference.tsx';
import { sectionTitle, useAccount, useAccountText, useSectionUrl } from './account-context.tsx';
import { ProofForm } from './proof-form.tsx';
import { App, RecoveryCodes } from './sections/app.tsx';
import { Overview } from './sections/overview.tsx';
import { Passkeys } from './sections/passkeys.tsx';
import { Password } from './sections/password.tsx';
import { Devices, Sessions, SignIns } from './sections/sessions.tsx';

/** A section with its heading, what has just happened, and the way back to the overview. */
export function AccountScreen() {
  const text = useAccountText();
  const { section, username, ask } = useAccount();
  const toSection = useSectionUrl();
  return (
    <>
      {section !== 'overview' && (
        <p className="back">
          <a href={toSection('overview')}>{text('account-title')}</a>
        </p>
      )}
      <h1>{text(sectionTitle[section])}</h1>
      {section !== 'overview' && <p className="lede">{text('page-account', { account: username })}</p>}
      <AccountNotice />
      {ask ? <ProofForm ask={ask} /> : <View />}
      <Reference />
    </>
  );
}

function View(): ReactNode {
  const { view } = useAccount();
  switch (view.name) {
    case 'overview':
      return <Overview {...view} />;
    case 'passkeys':
      return <Passkeys {...view} />;
    case 'password':
      return <Password {...view} />;
    case 'app':
      return <App {...view} />;
    case 'recoveryCodes':
      return <RecoveryCodes {...view} />;
    case 'devices':
      return <Devices {...view} />;
    case 'sessions':
      return <Sessions {...view} />;
    case 'signIns':
      return <SignIns {...view} />;
  }
}

function AccountNotice() {
  const text = useAccountText();
  const { notice, reason } = useAccount();
  if (notice === null) return null;
  const isGood = goodNotices.includes(notice);
  return (
    <Alert kind={isGood ? 'info' : 'bad'} answerTo={isGood ? null : {}}>
      {notice === 'passwordRefused' && reason !== null
        ? text(`changed-failed-page-error-${reason}`)
        : text(`account-notice-${notice}`)}
    </Alert>
  );
}
