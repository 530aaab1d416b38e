import type { PersonRow, PersonState } from '#contract/desk.ts';
import type { Connection, Fragment } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { accountKey } from '../throttle/throttle-keys.ts';
import { type DeskVisit, largeRead } from './desk-visit.ts';

/** Which people: conditions on the user `u`, one on their state, and their order. */
type Which = { where: Fragment; states?: readonly Word[] | undefined; order: Fragment; limit: number; offset?: number };
type Word = PersonState['word'];

type Row = Omit<PersonRow, 'state'> & { word: Word; until: Date | null; total: number };

/**
 * People as whoever is at the desk may see them: of somebody with other customers too, an administrator learns no factor. `total`:
 * how many meet the conditions.
 */
export async function listPersonRows(deps: Deps, desk: DeskVisit, which: Which) {
  const { sql, actor } = desk;
  const { where, states, order, limit, offset = 0 } = which;
  const keys = actor.customers.map(({ key }) => key);
  const ofOwn = actor.role === null ? sql`and string_to_array(e.customer_key, ', ') && ${keys}::text[]` : sql``;
  const rows = await largeRead(
    desk,
    (patient) => patient<Row[]>`
    select u.id, coalesce(u.name, u.username) as name, u.username,
      array(
        select c.name from membership m join customer c on c.id = m.customer_id
        where m.user_id = u.id and ${isSeen(desk)} order by c.name
      ) as customers,
      ${waitOf(deps, desk)} as until, ${stateOf(deps, desk)} as word,
      (
        select e.at from audit_event e where e.user_id = u.id and e.event = 'signed-in' ${ofOwn}
        order by e.id desc limit 1
      ) as "lastSignInAt", total
    from (
      select u.*, count(*) over () as total from portal_user u
      where ${where} and (${states === undefined} or ${stateOf(deps, desk)} = any(${states ?? []}::text[]))
      order by ${order} limit ${limit} offset ${offset}
    ) u
    order by ${order}`,
  );
  const people = rows.map(({ word, until, total: _, ...row }) => {
    return { ...row, state: { word, until: word === 'waits' ? until : null } };
  });
  return { people, total: rows[0]?.total ?? 0 };
}

/** A condition: the user `u` has this folded username or email. Of somebody with other customers too, the email is none. */
export function isCalled({ sql, scope }: DeskVisit, fold: string): Fragment {
  const named = sql`u.id in (select user_id from login_name where fold = ${fold})`;
  if (scope === null) return named;
  return sql`(
    ${named} and exists (select from membership m where m.user_id = u.id and m.customer_id = any(${scope}::uuid[]))
    and (lower(u.username) = ${fold} or is_desks_alone(u.id)))`;
}

/**
 * A condition: the user `u` has words in their names that begin so; null if a text has none of two letters. An administrator
 * learns no email of somebody who has other customers too, not even by trying its letters.
 */
export function hasWords({ sql, scope }: DeskVisit, text: string): Fragment | null {
  if (!/[\p{L}\p{N}]{2}/u.test(text.normalize('NFC'))) return null;
  const words = sql`(
    select string_agg(quote_literal(lexeme) || ':*', ' & ')::tsquery
    from unnest(search_words(${text})) where length(lexeme) > 1)`;
  if (scope === null) return sql`search_words(u.username || ' ' || u.email || ' ' || coalesce(u.name, '')) @@ ${words}`;
  return sql`(
    u.id in (select desk_people(${words}))
    and (search_words(u.username || ' ' || coalesce(u.name, '')) @@ ${words} or is_desks_alone(u.id)))`;
}

/** A condition: the customer of the membership `m` is one that whoever looks may see. */
export function isSeen({ sql, scope }: Pick<DeskVisit, 'sql' | 'scope'>): Fragment {
  return scope === null ? sql`true` : sql`m.customer_id = any(${scope}::uuid[])`;
}

/** A condition: the factors of the user `u` are for whoever looks to see. */
function isWhole({ sql, scope }: DeskVisit): Fragment {
  return scope === null ? sql`true` : sql`is_desks_alone(u.id)`;
}

function waitOf(deps: Deps, desk: DeskVisit): Fragment {
  const { sql } = desk;
  return sql`(
    select blocked_until from throttle
    where key = ${accountKey('')} || u.id::text and blocked_until > ${deps.now()} and ${isWhole(desk)})`;
}

/** The state of the user `u`: what keeps them out first. */
export function stateOf(deps: Deps, desk: DeskVisit): Fragment {
  const { sql, scope } = desk;
  const now = deps.now();
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const customer = sql`from membership m join customer c on c.id = m.customer_id where m.user_id = u.id and ${isSeen(desk)}`;
  return sql`case
    when not u.active then 'inactive'
    when not exists (select ${customer} and c.active) then 'noCustomer'
    when ${waitOf(deps, desk)} is not null then 'waits'
    when ${isWhole(desk)} and u.password_hash is null and ${hasNo(sql, 'passkey')} and ${hasNo(sql, 'sso_subject')}
      and exists (select from reset_link l where l.user_id = u.id and l.purpose = 'invitation') then 'invited'
    when exists (select ${customer} and c.active and c.two_factor <> 'off') and ${isWhole(desk)}
      and ${hasNo(sql, 'totp')} and ${hasNo(sql, 'email_factor')} and ${hasNo(sql, 'passkey')} then 'noFactor'
    when exists (
      select from session s where s.user_id = u.id and s.stage = 'full' and s.ends_at > ${now}
        and s.last_seen_at > ${idleSince} ${scope === null ? sql`` : sql`and s.customer_ids && ${scope}::uuid[]`}
    ) then 'signedIn'
    else 'canSignIn' end`;
}

function hasNo(sql: Connection, table: string): Fragment {
  return sql`not exists (select from ${sql(table)} own where own.user_id = u.id)`;
}
