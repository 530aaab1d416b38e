import type { ReactNode } from 'react';
import { goodNotices } from '#contract/account.ts';
import { languageNames, languages } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { Icon, shapes } from '../components/icon.tsx';
import { Alert } from '../components/notice.tsx';
import { PageHeader } from '../components/page-frame.tsx';
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

/** The frame of the other screens (components/page-frame.tsx), for a page without a script. */
export function AccountFrame({ children }: { children: ReactNode }) {
  const text = useAccountText();
  const { links } = useApp().page.branding;
  return (
    <div className="portal account">
      <div className="wall">
        <div className="door">
          <div className="column">
            <PageHeader />
            <main aria-busy={false}>
              <div className="content">{children}</div>
            </main>
          </div>
        </div>
      </div>
      <footer className="floor">
        <a href={links.solutions}>{text('tagline')}</a>
        <nav aria-label={text('service-links')}>
          <a href={links.support}>{text('support')}</a>
          <a href={links.imprint}>{text('imprint')}</a>
          <LanguageForm />
        </nav>
      </footer>
      <p className="sr" role="status" />
    </div>
  );
}

/** The language menu, with a button of its own: no script sends it. */
function LanguageForm() {
  const text = useAccountText();
  const { language } = useApp();
  const { section, begun } = useAccount();
  const action = useSectionUrl()(section);
  return (
    <form className="language" method="get" action={action.split('?')[0]}>
      {begun !== null && <input type="hidden" name="do" value={begun} />}
      <label htmlFor="lang">
        <Icon shape={shapes.globe} size={18} />
        <span className="sr">{text('language')}</span>
      </label>
      <select id="lang" name={queryNames.language} autoComplete="off" defaultValue={language}>
        {languages.map((tag) => (
          <option key={tag} value={tag} lang={tag}>
            {languageNames[tag]}
          </option>
        ))}
      </select>
      <button type="submit">{text('language-apply')}</button>
    </form>
  );
}
