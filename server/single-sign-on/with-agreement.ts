import type { Connection, Database } from '../database/database.ts';
import { RollBack } from '../database/database.ts';

/** What a change of connections does to its users and to everyone at a domain. */
export type WhatFollows = {
  /** Single sign-on is no longer required: passwords work again. */
  opened: string[];
  /** Single sign-on is required and disabled: nobody signs in. */
  lockedOut: string[];
  unlinked: number;
  /** The domains for which they are no longer vouched for; empty if the whole provider is another one. */
  domainsDropped: string[];
};

export type NotAgreed = { kind: 'notAgreed'; follows: WhatFollows };

/**
 * Runs a change of connections in a transaction. If it removes, enables passwords, locks a domain out or unlinks users without the
 * operator's agreement, to all of that or to enabling passwords alone, it is rolled back and the consequences are returned.
 */
export async function withAgreement<
  T extends { kind: string; usersUnlinked?: number; domainsDropped?: string[] } | NotAgreed,
>(
  sql: Database,
  agreed: { toAll?: boolean; toOpening?: boolean },
  change: (sql: Connection) => Promise<T>,
): Promise<T | NotAgreed> {
  return await sql.begin(async (sql): Promise<T | RollBack<NotAgreed>> => {
    const before = await listRequiredDomains(sql);
    const result = await change(sql);
    const after = await listRequiredDomains(sql);
    const follows: WhatFollows = {
      opened: [...before.keys()].filter((domain) => !after.has(domain)),
      lockedOut: [...after]
        .filter(([domain, isUsable]) => !isUsable && before.get(domain) !== false)
        .map(([name]) => name),
      unlinked: ('usersUnlinked' in result && result.usersUnlinked) || 0,
      domainsDropped: ('domainsDropped' in result && result.domainsDropped) || [],
    };
    const isHarmless = result.kind !== 'removed' && follows.lockedOut.length === 0 && follows.unlinked === 0;
    const mustAgree = !isHarmless || (follows.opened.length > 0 && !agreed.toOpening);
    return mustAgree && !agreed.toAll ? new RollBack({ kind: 'notAgreed', follows }) : result;
  });
}

/** The domains that require single sign-on, and whether it is usable; otherwise nobody can sign in to one. */
export async function listRequiredDomains(sql: Connection): Promise<Map<string, boolean>> {
  const rows = await sql<{ domain: string; isUsable: boolean }[]>`
    select d.domain, bool_or(s.active and c.active) as "isUsable"
    from sso_domain d join sso_connection s on s.id = d.connection_id join customer c on c.id = s.customer_id
    group by d.domain having bool_or(s.required) order by d.domain`;
  return new Map(rows.map(({ domain, isUsable }) => [domain, isUsable]));
}
