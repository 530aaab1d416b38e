import type { DeskViewOf } from '#contract/desk.ts';
import { useDesk } from './desk-context.tsx';
import { EventTable } from './events.tsx';
import { PeopleTable } from './people.tsx';

/** Whom or what to look for, and what was found. */
export function Search({ text: typed, people, references }: DeskViewOf<'search'>) {
  const { text } = useDesk();
  return (
    <>
      <h1 className="sr">{text('desk-title')}</h1>
      {people.length > 0 && (
        <section className="panel">
          <h2>{text('desk-people')}</h2>
          <PeopleTable people={people} found={typed} />
        </section>
      )}
      {references.length > 0 && (
        <section className="panel">
          <h2>{text('desk-reference')}</h2>
          <EventTable events={references} />
        </section>
      )}
    </>
  );
}
