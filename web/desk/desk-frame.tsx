import { type ComponentType, use } from 'react';
import { accountUrl } from '#contract/account.ts';
import type { DeskView, DeskViewOf } from '#contract/desk.ts';
import { queryNames, withQuery } from '#contract/screens.ts';
import { type AccountKey, BehindContext } from '../account/account-context.tsx';
import { ProofForm } from '../account/proof-form.tsx';
import { useApp } from '../app-context.ts';
import { Icon } from '../components/icon.tsx';
import { Alert } from '../components/notice.tsx';
import { Mark, PageFooter } from '../components/page-frame.tsx';
import { CustomerPage } from './customer.tsx';
import { Customers } from './customers.tsx';
import { DeskContext, useDesk } from './desk-context.tsx';
import { EventWords, Reference } from './events.tsx';
import { Events } from './events-page.tsx';
import { Import } from './import.tsx';
import { Person } from './person.tsx';
import { Search } from './search.tsx';

const pages: { [Name in DeskView['name']]?: ComponentType<DeskViewOf<Name>> } = {
  search: Search,
  events: Events,
  person: Person,
  customers: Customers,
  customer: CustomerPage,
  import: Import,
  prove: SecondFactor,
};

/** The bar with the search, what was just done, and the page; or the proof that comes before. */
export function DeskFrame() {
  const desk = use(DeskContext);
  const { page, message, askedLanguage } = useApp();
  if (!desk) throw new Error('The desk is missing around this component');
  const here = withQuery(page.url.split('?')[0] ?? '', { [queryNames.language]: askedLanguage });
  const { actor, sessionId, begun, kept, ask, view } = desk;
  const Page = pages[view.name] as ComponentType<DeskView>;
  const text = message as (key: AccountKey) => string;
  return (
    <BehindContext value={{ username: actor.username, sessionId, begun, kept, here, comesBackTo: here }}>
      <div className="portal account desk">
        <Bar />
        <main className="room" id="main" aria-busy={false}>
          <Result />
          {ask === null ? (
            <Page {...view} />
          ) : (
            <section className="panel narrow">
              <h1>{begun ? text(`desk-act-${begun}`) : text('desk-title')}</h1>
              <ProofForm ask={ask} />
            </section>
          )}
        </main>
        <PageFooter />
        <p className="sr" role="status" />
      </div>
    </BehindContext>
  );
}

function Bar() {
  const { text, toDesk, view, actor } = useDesk();
  const { page, askedLanguage } = useApp();
  const asked = view.name === 'search' ? view.text : '';
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
          {askedLanguage && <input type="hidden" name={queryNames.language} value={askedLanguage} />}
          <input
            type="search"
            name="q"
            aria-label={text('desk-search-label')}
            placeholder={text('desk-search-label')}
            autoComplete="off"
            spellCheck={false}
            defaultValue={asked}
          />
        </div>
      </form>
      <nav aria-label={text('desk-title')}>
        <a href={toDesk('/customers')} aria-current={view.name === 'customers' ? 'page' : undefined}>
          {text('desk-customers')}
        </a>
        <a href={toDesk('/events')} aria-current={view.name === 'events' ? 'page' : undefined}>
          {text('desk-events')}
        </a>
        <a href={accountUrl(page.rules.basePath, 'overview')}>{actor.name}</a>
      </nav>
    </header>
  );
}

const lens = 'M3.5 9a5.5 5.5 0 1 0 11 0 5.5 5.5 0 1 0-11 0ZM13.2 13.2 17 17';

/** What a form has just done, as it was recorded; or why it was not done. */
function Result() {
  const { text, notice, field, result } = useDesk();
  if (notice !== null)
    return (
      <Alert kind="bad" answerTo={{}}>
        {text(
          field !== null && notice === 'entryRefused'
            ? (`desk-refused-${field}` as AccountKey)
            : `desk-notice-${notice}`,
        )}
      </Alert>
    );
  if (result === null) return null;
  return (
    <Alert answerTo={{}}>
      <EventWords {...result} /> <Reference of={result} />
    </Alert>
  );
}

/** Before the desk opens: a second factor, or the way to set one up. */
function SecondFactor({ asks }: DeskViewOf<'prove'>) {
  const { text } = useDesk();
  const { page } = useApp();
  return (
    <section className="panel narrow">
      <h1>{text('desk-title')}</h1>
      {asks === 'setUp' ? (
        <>
          <p className="hint">{text('desk-set-up')}</p>
          <p>
            <a className="button" href={accountUrl(page.rules.basePath, 'app')}>
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
