import type { PersonState } from '#contract/desk.ts';
import { pendingResets } from '../accounts/reset-two-factor.ts';
import { isUuid } from '../crypto/token.ts';
import { rowOrNull } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import type { Customer } from '../people/customer.ts';
import type { User } from '../people/portal-user.ts';
import { hasEmailToProve, isEmailConfirmed, isSsoPossibleFor, isSsoRequiredOf } from '../people/sign-in-policy.ts';
import { accountKey, codeKey } from '../throttle/throttle-keys.ts';
import type { Asked } from './desk-page.ts';
import { isSeen, stateOf } from './person-rows.ts';

/**
 * A person as their page and its forms need them. Of a person with other customers, an administrator is shown less of it: that is
 * `isForeign`, and `customers` are those that whoever looks may see. `waitsUntil`: the end of the latest wait that lifting ends.
 */
export type FoundPerson = Omit<User, 'hasApp' | 'passkeys' | 'customers' | 'administers' | 'groups' | 'createdAt'> &
  Record<'isForeign' | 'ssoRequired' | 'ssoPossible' | 'isEmailConfirmed' | 'hasEmailToProve', boolean> &
  Record<'appSince' | 'waitsUntil' | 'resetAt', Date | null> & {
    customers: (Pick<Customer, 'key' | 'name' | 'active' | 'twoFactor' | 'rememberDevices' | 'passkeys'> & {
      groups: string[];
      administers: boolean;
      isFenced: boolean;
    })[];
    recoveryCodesLeft: number;
    devices: number;
    /** `isUsable`: made for the address of this portal. */
    passkeys: { name: string; lastUsedAt: string | null; isUsable: boolean }[];
    word: PersonState['word'];
    seen: string;
  };

/** The person of an address, if they are there for whoever asks, with what their page is about, in one statement. */
export async function findPerson(deps: Deps, { desk, params }: Asked): Promise<FoundPerson | null> {
  const { id = '' } = params;
  if (!isUuid(id)) return null;
  const { sql, scope } = desk;
  const now = deps.now();
  const user = sql`u.id`;
  return await rowOrNull(sql<FoundPerson[]>`
    select u.id, u.username, u.name, u.email, u.language, u.active, u.role, u.password_hash is not null as "hasPassword",
      u.may_change_password as "mayChangePassword", ${isSsoRequiredOf(sql, user)} as "ssoRequired",
      ${isSsoPossibleFor(sql, user)} as "ssoPossible",
      ${scope === null ? sql`false` : sql`not is_desks_alone(u.id)`} as "isForeign",
      (
        select coalesce(jsonb_agg(jsonb_build_object('key', c.key, 'name', c.name, 'active', c.active, 'groups', m.groups,
          'administers', m.administers, 'twoFactor', c.two_factor, 'rememberDevices', c.remember_devices,
          'passkeys', c.passkeys, 'isFenced', c.allowed_networks <> '{}') order by c.name), '[]')
        from membership m join customer c on c.id = m.customer_id where m.user_id = u.id and ${isSeen(desk)}
      ) as customers,
      (select confirmed_at from totp where user_id = u.id) as "appSince",
      ${isEmailConfirmed(sql, user)} as "isEmailConfirmed", ${hasEmailToProve(sql, user)} as "hasEmailToProve",
      (select count(*)::int from recovery_code where user_id = u.id and used_at is null) as "recoveryCodesLeft",
      (select count(*)::int from remembered_device where user_id = u.id and ends_at > ${now}) as devices,
      (
        select coalesce(jsonb_agg(jsonb_build_object('name', p.name, 'lastUsedAt', p.last_used_at,
          'isUsable', p.rp_id = ${deps.config.passkeys?.id ?? null}) order by p.made_at), '[]')
        from passkey p where p.user_id = u.id
      ) as passkeys,
      ${stateOf(deps, desk)} as word,
      (
        select max(blocked_until) from throttle where blocked_until > ${now} and key in (
          select ${accountKey(id)} union all select ${codeKey({ userId: id, connectionId: null }).key}
          union all select ${codeKey({ userId: id, connectionId: '' }).key} || connection_id from sso_subject where user_id = u.id
          union all select 'device:' || encode(token_hash, 'hex') || ':' || user_id from device where user_id = u.id)
      ) as "waitsUntil",
      (select made_at from job where queue = ${pendingResets} and user_id = u.id) as "resetAt",
      coalesce((
        select e.id::text from audit_event e where e.user_id = u.id and e.actor is not null order by e.id desc limit 1
      ), '') as seen
    from portal_user u
    where u.id = ${id}
      and (${scope === null} or exists (select from membership m where m.user_id = u.id and ${isSeen(desk)}))`);
}
