import type { ComponentType } from 'react';
import { type AskedProof, accountUrl } from '#contract/account.ts';
import type { DeskPage, DeskView, DeskViewOf } from '#contract/desk.ts';
import type { Page } from '#contract/page.ts';
import { queryNames, withQuery } from '#contract/screens.ts';
import { type AccountKey, BehindContext } from '../account/account-context.tsx';
import { ProofForm } from '../account/account-form.tsx';
import { documentBehind } from '../account/document-behind.tsx';
import type { AllTexts } from '../all-texts.ts';
import { useApp } from '../app-context.ts';
import { Icon } from '../components/icon.tsx';
import { Alert } from '../components/notice.tsx';
import { Mark, PageFooter } from '../components/page-frame.tsx';
import { documentTitle } from '../components/title-heading.tsx';
import type { PageAssets } from '../render.tsx';
import { CustomerPage } from './customer.tsx';
import { DeskContext, useDesk } from './desk-context.tsx';
import { Events, EventWords, Reference } from './events.tsx';
import { AskedLanguage } from './form.tsx';
import { Import } from './import.tsx';
import { Person } from './person.tsx';
import { Customers, Search } from './search.tsx';

export { renderAccount } from '../account/account-screen.tsx';
export { styles } from '../account/document-behind.tsx';

/** Returns the whole HTML document of a page of the desk; its script only searches while one types. */
export function renderDesk(page: Page, desk: DeskPage, assets: PageAssets): string {
  return documentBehind(page, assets, {
    title: (texts) => documentTitle(titleOf(desk.view, texts), page),
    tree: <DeskFrame {...desk} />,
    script: assets.deskScript,
  });
}

function titleOf(view: DeskView, texts: AllTexts): string {
  if (view.name === 'person') return view.displayName ?? view.username;
  if ('displayName' in view) return view.displayName;
  if (view.name === 'customers' || view.name === 'events') return texts[`desk-${view.name}`];
  return texts['desk-title'];
}

const pages: { [Name in DeskView['name']]: ComponentType<DeskViewOf<Name>> } = {
  search: Search,
  events: Events,
  person: Person,
  customers: Customers,
  customer: CustomerPage,
  import: Import,
  prove: Proof,
};

/** The bar with the search, what was just done, and the page; or the proof that comes before. */
function DeskFrame(desk: DeskPage) {
  const { page, askedLanguage } = useApp();
  const here = withQuery(page.url.split('?')[0] ?? '', { [queryNames.language]: askedLanguage });
  const { actor, view, ask } = desk;
  const Page = pages[view.name] as ComponentType<DeskView>;
  return (
    <BehindContext value={{ ...desk, username: actor.username, here, comesBackTo: here }}>
      <DeskContext value={desk}>
        <div className="portal account desk">
          <Bar />
          <main className="room" id="main" aria-busy={false}>
            <Result />
            {ask === null ? <Page {...view} /> : <Proof asks={ask} />}
          </main>
          <PageFooter />
          <p className="sr" role="status" />
        </div>
      </DeskContext>
    </BehindContext>
  );
}

function Bar() {
  const { text, toDesk, view, actor } = useDesk();
  const { basePath } = useApp().page.rules;
  return (
    <header className="bar">
      <a className="logo" href={toDesk('')}>
        <Mark />
        <span>{text('desk-title')}</span>
      </a>
      {/* biome-ignore lint/a11y/useSemanticElements: not every browser of ours knows <search> */}
      <form className="find" method="get" action={toDesk('')} role="search">
        <div className="control">
          <Icon shape={lens} size={18} />
          <AskedLanguage />
          <input
            type="search"
            name="q"
            aria-label={text('desk-search-label')}
            placeholder={text('desk-search-label')}
            autoComplete="off"
            spellCheck={false}
            defaultValue={view.name === 'search' ? view.text : ''}
          />
        </div>
      </form>
      <nav aria-label={text('desk-title')}>
        {(['customers', 'events'] as const).map((name) => (
          <a key={name} href={toDesk(`/${name}`)} aria-current={view.name === name ? 'page' : undefined}>
            {text(`desk-${name}`)}
          </a>
        ))}
        <a href={accountUrl(basePath, 'overview')}>{actor.name}</a>
      </nav>
    </header>
  );
}

const lens = 'M3.5 9a5.5 5.5 0 1 0 11 0 5.5 5.5 0 1 0-11 0ZM13.2 13.2 17 17';

/** What a form has just done, as it was recorded; or why it was not done. */
function Result() {
  const { text, notice, field, result } = useDesk();
  if (notice !== null) {
    const why = notice === 'entryRefused' && field ? `desk-refused-${field}` : `desk-notice-${notice}`;
    return (
      <Alert kind="bad" answerTo={{}}>
        {text(why as AccountKey)}
      </Alert>
    );
  }
  return (
    result && (
      <Alert answerTo={{}}>
        <EventWords {...result} /> <Reference of={result} />
      </Alert>
    )
  );
}

/** Before the desk opens, or an act: who it is, or the way to set up a second factor. */
function Proof({ asks }: { asks: AskedProof | 'setUp' }) {
  const { text, begun } = useDesk();
  const { basePath } = useApp().page.rules;
  return (
    <section className="panel narrow">
      <h1>{text(begun ? `desk-act-${begun}` : 'desk-title')}</h1>
      {asks === 'setUp' ? (
        <>
          <p className="hint">{text('desk-set-up')}</p>
          <p>
            <a className="button" href={accountUrl(basePath, 'app')}>
              {text('account-set-up')}
            </a>
          </p>
        </>
      ) : (
        <ProofForm ask={asks} />
      )}
    </section>
  );
}
