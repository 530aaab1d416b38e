import type { Connection, Database } from '../database/database.ts';
import { RollBack } from '../database/database.ts';

/** What a change of connections does to its users and to everyone at a domain. */
export type WhatFollows = {
  /** Single sign-on is no longer required: passwords work again. */
  opened: string[];
  /** Single sign-on is required and disabled: nobody signs in. */
  lockedOut: string[];
  /** How many users are no longer linked to a subject. */
  unlinked: number;
  /** The domains for which they are no longer vouched for; empty if the whole provider is another one. */
  domainsDropped: string[];
};

export type NotAgreed = { kind: 'notAgreed'; follows: WhatFollows };

/** A result; what it unlinks, and why. */
type Changed = { kind: string; usersUnlinked?: number; domainsDropped?: string[] };

/** What the operator agreed to: all consequences, or only enabling passwords. */
type Agreed = { toAll?: boolean; toOpening?: boolean };

/**
 * Runs a change of connections in a transaction. If it enables passwords, locks a domain out or unlinks users without the
 * operator's agreement, it is rolled back and the consequences are returned.
 */
export async function withAgreement<T extends Changed | NotAgreed>(
  sql: Database,
  agreed: Agreed,
  change: (sql: Connection) => Promise<T>,
): Promise<T | NotAgreed> {
  return await sql.begin(async (sql): Promise<T | RollBack<NotAgreed>> => {
    const before = await listRequiredDomains(sql);
    const result = await change(sql);
    const domains = differenceOf(before, await listRequiredDomains(sql));
    const { usersUnlinked: unlinked = 0, domainsDropped = [] } = result as Changed;
    const follows = { ...domains, unlinked, domainsDropped };
    const isHarmless = follows.lockedOut.length === 0 && follows.unlinked === 0;
    const mustAgree = !isHarmless || (follows.opened.length > 0 && !agreed.toOpening);
    return mustAgree && !agreed.toAll ? new RollBack({ kind: 'notAgreed', follows }) : result;
  });
}

type RequiredDomain = { domain: string; isUsable: boolean };

/** The domains that require single sign-on; if one is unusable nobody can sign in to it. */
async function listRequiredDomains(sql: Connection): Promise<RequiredDomain[]> {
  return await sql<RequiredDomain[]>`
    select d.domain, bool_or(s.active and c.active) as "isUsable"
    from sso_domain d join sso_connection s on s.id = d.connection_id join customer c on c.id = s.customer_id
    group by d.domain having bool_or(s.required) order by d.domain`;
}

function differenceOf(before: RequiredDomain[], after: RequiredDomain[]): Pick<WhatFollows, 'opened' | 'lockedOut'> {
  const names = (rows: RequiredDomain[]) => rows.map(({ domain }) => domain);
  const locked = (rows: RequiredDomain[]) => names(rows.filter(({ isUsable }) => !isUsable));
  const required = names(after);
  const lockedBefore = locked(before);
  return {
    opened: names(before).filter((domain) => !required.includes(domain)),
    lockedOut: locked(after).filter((domain) => !lockedBefore.includes(domain)),
  };
}
