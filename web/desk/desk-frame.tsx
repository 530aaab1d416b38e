import type { ComponentType } from 'react';
import { type AskedProof, accountUrl } from '#contract/account.ts';
import type { DeskPage, DeskView, DeskViewOf } from '#contract/desk.ts';
import { queryNames, withQuery } from '#contract/screens.ts';
import { type AccountKey, BehindContext } from '../account/account-context.tsx';
import { ProofForm } from '../account/proof-form.tsx';
import { useApp } from '../app-context.ts';
import { Icon } from '../components/icon.tsx';
import { Alert } from '../components/notice.tsx';
import { Mark, PageFooter } from '../components/page-frame.tsx';
import { CustomerPage } from './customer.tsx';
import { DeskContext, useDesk } from './desk-context.tsx';
import { Events, EventWords, Reference } from './events.tsx';
import { AskedLanguage } from './form.tsx';
import { Import } from './import.tsx';
import { Person } from './person.tsx';
import { Customers, Search } from './search.tsx';

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
export function DeskFrame(desk: DeskPage) {
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
