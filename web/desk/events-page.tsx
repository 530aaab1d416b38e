import type { ReactNode } from 'react';
import type { DeskViewOf } from '#contract/desk.ts';
import { queryNames } from '#contract/screens.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { useApp } from '../app-context.ts';
import { useDesk } from './desk-context.tsx';
import { EventTable } from './events.tsx';

const kinds = ['signIns', 'refusals', 'acts'] as const;

/** What was recorded, by a filter; the same as a file. */
export function Events({ customers, filter, events, before }: DeskViewOf<'events'>) {
  const { text, toDesk } = useDesk();
  const { askedLanguage } = useApp();
  const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
  return (
    <>
      <div className="title">
        <div>
          <h1>{text('desk-events')}</h1>
          <p className="soft">{text('desk-events-file')}</p>
        </div>
        <p className="links">
          <a href={toDesk('/events.csv', asked)}>CSV</a>
          <a href={toDesk('/events.jsonl', asked)}>JSON Lines</a>
        </p>
      </div>
      <section className="panel">
        <form className="filter" method="get">
          {askedLanguage && <input type="hidden" name={queryNames.language} value={askedLanguage} />}
          <Field name="customer" label="desk-customer">
            <select id="customer" name="customer" defaultValue={filter.customer}>
              <option value="">{text('desk-all')}</option>
              {customers.map(({ key, name }) => (
                <option key={key} value={key}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
          <Field name="person" label="desk-person">
            <input id="person" name="person" defaultValue={filter.person} autoComplete="off" spellCheck={false} />
          </Field>
          <Field name="kind" label="desk-kind">
            <select id="kind" name="kind" defaultValue={filter.kind}>
              <option value="">{text('desk-kind-any')}</option>
              {kinds.map((kind) => (
                <option key={kind} value={kind}>
                  {text(`desk-kind-${kind}`)}
                </option>
              ))}
            </select>
          </Field>
          <Field name="from" label="desk-from">
            <input id="from" name="from" type="date" defaultValue={filter.from} />
          </Field>
          <Field name="to" label="desk-to">
            <input id="to" name="to" type="date" defaultValue={filter.to} />
          </Field>
          <button type="submit" className="button quiet">
            {text('desk-show')}
          </button>
        </form>
        {events.length === 0 ? <p>{text('desk-events-none')}</p> : <EventTable events={events} byDay />}
        <p className="row">
          <span className="soft">{text('desk-events-utc')}</span>
          {before !== null && <a href={toDesk('/events', { ...asked, before })}>{text('desk-older')}</a>}
        </p>
      </section>
    </>
  );
}

function Field({ name, label, children }: { name: string; label: AccountKey; children: ReactNode }) {
  const { text } = useDesk();
  return (
    <div className="field">
      <label htmlFor={name}>{text(label)}</label>
      <div className="control">{children}</div>
    </div>
  );
}
