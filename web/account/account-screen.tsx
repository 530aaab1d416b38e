import type { ComponentType, ReactNode } from 'react';
import {
  type AccountPage,
  type AccountSection,
  type AccountView,
  accountNotices,
  type ViewOf,
} from '#contract/account.ts';
import { deskUrl } from '#contract/desk.ts';
import { defaultDestination } from '#contract/destination.ts';
import type { Page } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import { Alert } from '../components/notice.tsx';
import { Mark, PageFooter } from '../components/page-frame.tsx';
import { Reference } from '../components/reference.tsx';
import { documentTitle } from '../components/title-heading.tsx';
import type { PageAssets } from '../render.tsx';
import { AccountContext, BehindContext, sectionTitle, useAccount } from './account-context.tsx';
import { ProofForm } from './account-form.tsx';
import { documentBehind } from './document-behind.tsx';
import { App, RecoveryCodes } from './sections/app.tsx';
import { Overview } from './sections/overview.tsx';
import { Passkeys } from './sections/passkeys.tsx';
import { Password } from './sections/password.tsx';
import { Devices, Sessions, SignIns } from './sections/sessions.tsx';

const sections: { [Name in AccountSection]: ComponentType<ViewOf<Name>> } = {
  overview: Overview,
  passkeys: Passkeys,
  password: Password,
  app: App,
  recoveryCodes: RecoveryCodes,
  devices: Devices,
  sessions: Sessions,
  signIns: SignIns,
};

/** A section with its heading, what has just happened, and the way back to the overview. */
function AccountScreen() {
  const { text, section, username, ask, view, toSection } = useAccount();
  const Section = sections[view.name] as ComponentType<AccountView>;
  const content = ask ? <ProofForm ask={ask} /> : <Section {...view} />;
  return (
    <>
      {view.name === 'overview' ? (
        <Person {...view} />
      ) : (
        <header>
          <p className="back">
            <a href={toSection('overview')}>{text('account-title')}</a>
          </p>
          <h1>{text(sectionTitle(section))}</h1>
          <p className="soft">{text('page-account', { account: username })}</p>
        </header>
      )}
      <AccountNotice />
      {view.name === 'overview' ? content : <section className="panel">{content}</section>}
      <Reference />
    </>
  );
}

/** Of groups, as many as do not hide the rest of the page. */
const mostGroups = 10;

function Person({ displayName, email, customers, groups }: ViewOf<'overview'>) {
  const { text, username } = useAccount();
  const name = displayName ?? username;
  const facts = [displayName && username !== email && username, email, customers.join(', ')].filter(Boolean);
  return (
    <Title name={name}>
      <h1>
        <span className="sr">{text('account-title')}: </span>
        {name}
      </h1>
      <p className="soft">{facts.join(' · ')}</p>
      {groups.length > 0 && (
        <p className="soft">
          {text('signed-in-groups')}: {groups.slice(0, mostGroups).join(', ')}
          {groups.length > mostGroups && ', …'}
        </p>
      )}
    </Title>
  );
}

/** What a page is about, with the letters of its name. */
export function Title({ name, beside, children }: { name: string; beside?: ReactNode; children: ReactNode }) {
  return (
    <header className="title">
      <span className="arch" aria-hidden="true">
        {initialsOf(name)}
      </span>
      <div>{children}</div>
      {beside}
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

function AccountNotice() {
  const { text, notice, reason } = useAccount();
  if (notice === null) return null;
  const isGood = accountNotices[notice] === 'good';
  return (
    <Alert kind={isGood ? 'info' : 'bad'} answerTo={isGood ? null : {}}>
      {notice === 'passwordRefused' && reason !== null
        ? text(`changed-failed-page-error-${reason}`)
        : text(`account-notice-${notice}`)}
    </Alert>
  );
}

/** A bar in place of the door: these rooms are behind it. */
function AccountFrame() {
  const { text, section, view, username, sessionId, begun, kept, toSection } = useAccount();
  const { toCall, page } = useApp();
  const hub = defaultDestination(page.rules.basePath);
  const here = toSection(section);
  const comesBackTo = toSection(section, begun ?? undefined, kept);
  return (
    <BehindContext value={{ username, sessionId, begun, kept, here, comesBackTo }}>
      <div className="portal account">
        <header className="bar">
          <a className="logo" href={hub}>
            <Mark />
          </a>
          <nav aria-label={text('account-title')}>
            {view.name === 'overview' && view.hasDesk && (
              <a href={deskUrl(page.rules.basePath)}>{text('desk-title')}</a>
            )}
            <a href={hub}>{text('account-back')}</a>
            <a href={toCall('logout')}>{text('sign-out-button')}</a>
          </nav>
        </header>
        <main className="room" aria-busy={false}>
          <AccountScreen />
        </main>
        <PageFooter />
        <p className="sr" role="status" />
      </div>
    </BehindContext>
  );
}

/** Returns the whole HTML document of the account page, which a script only makes better; but for passkeys. */
export function renderAccount(page: Page, account: AccountPage, assets: PageAssets): string {
  return documentBehind(page, assets, {
    title: (texts) => documentTitle(texts[sectionTitle(account.section)], page),
    tree: (
      <AccountContext value={account}>
        <AccountFrame />
      </AccountContext>
    ),
    script: account.section === 'passkeys' ? assets.passkeyScript : null,
  });
}
