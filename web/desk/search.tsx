import type { DeskViewOf } from '#contract/desk.ts';
import { Panel } from '../account/account-form.tsx';
import { Time } from '../account/times.tsx';
import { useDesk } from './desk-context.tsx';
import { EventWords, Reference } from './events.tsx';
import { CustomerTable, PeopleTable } from './table.tsx';

/** The customers that whoever looks has. */
export function Customers({ customers }: DeskViewOf<'customers'>) {
  return (
    <>
      <h1>{useDesk().text('desk-customers')}</h1>
      <section className="panel">
        <CustomerTable customers={customers} />
      </section>
    </>
  );
}

/** As many are looked for of each. */
const most = 20;

/** Whom or what to look for, and what was found. */
export function Search({ text: typed, people, customers, references }: DeskViewOf<'search'>) {
  const { text } = useDesk();
  const count = people.length + customers.length + references.length;
  const isMore = Math.max(people.length, customers.length) >= most;
  const words = count === 0 ? '-none' : count === 1 ? '-one' : isMore ? '-more' : '';
  return (
    <>
      <h1 className="sr">{text('desk-search')}</h1>
      {typed !== '' && <p className="soft found">{text(`desk-found${words}`, { count, text: typed })}</p>}
      <div className={count === 0 ? 'narrow' : 'cols'}>
        <div className="stackup">
          {people.length > 0 && (
            <Panel title="desk-people">
              <PeopleTable people={people} found={typed} />
            </Panel>
          )}
          {customers.length > 0 && (
            <Panel title="desk-customers">
              <CustomerTable customers={customers} />
            </Panel>
          )}
          {references.length > 0 && (
            <Panel title="desk-reference">
              <ul className="rows">
                {references.map((event, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their order
                  <li key={index}>
                    <p className="row">
                      <Reference of={event} />
                      <span className="soft num">
                        <Time at={event.at} />
                      </span>
                    </p>
                    <p>
                      {event.person?.name} <EventWords {...event} />
                    </p>
                  </li>
                ))}
              </ul>
            </Panel>
          )}
        </div>
        <Panel title="desk-search-help-title">
          <p className="soft">{text('desk-search-help')}</p>
        </Panel>
      </div>
    </>
  );
}
