import type { DeskViewOf } from '#contract/desk.ts';
import { Entry, Filter } from './act-form.tsx';
import { useDesk } from './desk-context.tsx';
import { EventTable } from './events.tsx';

const kinds = ['signIns', 'refusals', 'acts'] as const;

/** What was recorded, by a filter; the same as a file. */
export function Events({ customers, filter, events, before }: DeskViewOf<'events'>) {
  const { text, toDesk } = useDesk();
  const all = { key: '', name: text('desk-all') };
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
        <Filter>
          <Entry name="customer" value={filter.customer} options={[all, ...customers]} />
          <Entry name="person" value={filter.person} />
          <Entry name="kind" value={filter.kind} options={[all, ...kinds]} />
          <Entry name="from" value={filter.from} type="date" />
          <Entry name="to" value={filter.to} type="date" />
        </Filter>
        {events.length === 0 ? <p>{text('desk-events-none')}</p> : <EventTable events={events} byDay />}
        <p className="row">
          <span className="soft">{text('desk-events-utc')}</span>
          {before !== null && <a href={toDesk('/events', { ...asked, before })}>{text('desk-older')}</a>}
        </p>
      </section>
    </>
  );
}
