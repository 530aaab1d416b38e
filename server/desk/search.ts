import { listAuditEventsByReference } from '../audit/audit-event.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Fragment } from '../database/database.ts';
import { foldLoginName } from '../names/read-name.ts';
import type { DeskPageRoom } from './desk-page.ts';
import type { DeskVisit } from './desk-visit.ts';
import { eventRowOf } from './event-row.ts';
import { listPersonRows } from './person-rows.ts';

/** As long as the longest name; of more only this is looked for. */
const longestText = 200;
const mostPeople = 20;

/** The first page: whom or what to look for, and what was found. */
export const search: DeskPageRoom<true> = {
  path: '',
  find: async () => true,
  target: () => null,
  kept: [],
  acts: {},
  view: async (deps, { desk, query }) => {
    const text = (query.q ?? '').trim().slice(0, longestText);
    const reference = referenceOfText(text);
    const words = wordsOf(text);
    const [events, people] = await Promise.all([
      reference === null ? [] : listAuditEventsByReference(desk.sql, reference),
      words === null
        ? []
        : listPersonRows(deps, desk, {
            where: hasWords(desk, words),
            order: desk.sql`u.username = ${foldLoginName(text)} or u.email = ${foldLoginName(text)} desc, u.username, u.id`,
            limit: mostPeople,
          }),
    ]);
    return { name: 'search', text, people, customers: [], references: events.map((event) => eventRowOf(desk, event)) };
  },
};

/** The beginnings of words, as PostgreSQL looks for them; null if there are fewer than two letters to look for. */
export function wordsOf(text: string): string | null {
  const words =
    text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[\u0300-\u036f]/g, '')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.join('').length < 2 ? null : words.map((word) => `${word}:*`).join(' & ');
}

/** A condition: the user `u` has words in their names that begin so. */
export function hasWords({ sql }: DeskVisit, words: string): Fragment {
  return sql`search_words(u.username || ' ' || u.email || ' ' || coalesce(u.name, '')) @@ ${words}::tsquery`;
}
