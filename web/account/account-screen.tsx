import type { ReactNode } from 'react';
import { type AccountView, goodNotices } from '#contract/account.ts';
import { defaultDestination } from '#contract/destination.ts';
import { languageNames, languages } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp, usePortalUrls } from '../app-context.ts';
import { Icon, shapes } from '../components/icon.tsx';
import { Alert } from '../components/notice.tsx';
import { Mark } from '../components/page-frame.tsx';
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
  const { section, username, ask, view } = useAccount();
  const toSection = useSectionUrl();
  if (view.name === 'overview')
    return (
      <>
        <Person {...view} />
        <AccountNotice />
        <Overview {...view} />
        <Reference />
      </>
    );
  return (
    <>
      <header>
        <p className="back">
          <a href={toSection('overview')}>{text('account-title')}</a>
        </p>
        <h1>{text(sectionTitle[section])}</h1>
        <p className="soft">{text('page-account', { account: username })}</p>
      </header>
      <AccountNotice />
      <section className="panel">{ask ? <ProofForm ask={ask} /> : <View />}</section>
      <Reference />
    </>
  );
}

/** Whose account it is. */
function Person({ email, customers }: Extract<AccountView, { name: 'overview' }>) {
  const text = useAccountText();
  const { username } = useAccount();
  return (
    <header className="title">
      <span className="arch" aria-hidden="true">
        {initialsOf(username)}
      </span>
      <div>
        <h1>
          <span className="sr">{text('account-title')}: </span>
          {username}
        </h1>
        <p className="soft">{[email, customers.join(', ')].filter(Boolean).join(' · ')}</p>
      </div>
    </header>
  );
}

/** The first letters of the first two words. */
function initialsOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return words
    .slice(0, 2)
    .map(([first]) => first?.toUpperCase())
    .join('');
}

function View(): ReactNode {
  const { view } = useAccount();
  switch (view.name) {
    case 'overview':
      return null;
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

/** A bar in place of the door: these rooms are behind it. */
export function AccountFrame({ children }: { children: ReactNode }) {
  const text = useAccountText();
  const { toCall } = usePortalUrls();
  const { branding, rules } = useApp().page;
  const { links } = branding;
  const hub = defaultDestination(rules.basePath);
  return (
    <div className="portal account">
      <header className="bar">
        <a className="logo" href={hub}>
          <Mark />
        </a>
        <nav aria-label={text('account-title')}>
          <a href={hub}>{text('account-back')}</a>
          <a href={toCall('logout')}>{text('sign-out-button')}</a>
        </nav>
      </header>
      <main className="room">{children}</main>
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
