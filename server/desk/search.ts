import type { PersonRow } from '#contract/desk.ts';
import { listAuditEvents } from '../audit/audit-event.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { foldLoginName } from '../names/read-name.ts';
import { listCustomerRows } from './customers.ts';
import type { DeskPageRoom } from './desk-page.ts';
import type { DeskVisit } from './desk-visit.ts';
import { eventRowOf, eventsSeenBy } from './event-row.ts';
import { hasWords, isCalled, listPersonRows } from './person-rows.ts';

/** As long as the longest name; of more only this is looked for. */
const longestText = 200;
const mostFound = 20;
const mostRanked = 1000;

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
    const [references, people, customers] = await Promise.all([
      reference === null ? [] : listAuditEvents(desk.sql, { ...eventsSeenBy(desk), reference, limit: mostFound }),
      findPeople(deps, desk, text),
      text.length < 2 ? [] : listCustomerRows(desk, { text, limit: mostFound }),
    ]);
    return { name: 'search', text, people, customers, references: references.map((event) => eventRowOf(desk, event)) };
  },
};

/** People by the beginnings of words of their names, first whoever is called exactly so. */
async function findPeople(deps: Deps, desk: DeskVisit, text: string): Promise<PersonRow[]> {
  const { sql, scope } = desk;
  const found = hasWords(desk, text);
  if (found === null) return [];
  const fold = foldLoginName(text);
  // A word may be everybody's: so many of them are put into order. An administrator's people are few.
  const some = sql`u.id in (
    select user_id from login_name where fold = ${fold} union all (select u.id from portal_user u where ${found} limit ${mostRanked}))`;
  return await listPersonRows(deps, desk, {
    where: scope === null ? some : found,
    order: sql`${isCalled(desk, fold)} desc, u.username, u.id`,
    limit: mostFound,
  });
}
