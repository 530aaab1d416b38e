import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type DeskRole, deskActs } from '#contract/desk.ts';
import { type Actor, mayAct, mayGive, rules, type Target } from './may-act.ts';

type Name = keyof typeof rules;
const acts = Object.keys(rules) as Name[];

const actors = ['operator', 'support', 'administrator of acme', 'administrator of both'] as const;
const customersOf = { 'administrator of acme': ['acme'], 'administrator of both': ['acme', 'beta'] } as const;
const actorOf = (name: (typeof actors)[number]): Actor => ({
  userId: 'me',
  username: 'me',
  name: 'Me',
  role: name === 'operator' || name === 'support' ? name : null,
  customers: (name in customersOf ? customersOf[name as keyof typeof customersOf] : []).map((key) => ({
    id: key,
    key,
    name: key,
  })),
});

const roles: (DeskRole | null)[] = [null, 'support', 'operator'];
const memberships = [['acme'], ['beta'], ['acme', 'beta'], ['gamma'], ['acme', 'gamma'], []];

/** The rights in sentences of their own, not by the table. */
function shouldMay(actor: Actor, act: Name, target: Target): boolean {
  const own = actor.customers.map(({ key }) => key);
  if (target.kind === 'customer') {
    if (actor.role === 'operator') return true;
    if (actor.role === 'support') return ['seeCustomer', 'invite', 'testConnection'].includes(act);
    return own.includes(target.key);
  }
  const isAbove =
    (target.role === 'operator' && actor.role !== 'operator') || (target.role === 'support' && actor.role === null);
  if (act !== 'see' && (target.userId === 'me' || isAbove)) return false;
  if (actor.role !== null) return actor.role === 'operator' || act !== 'administer';
  const isShared = target.customers.some((key) => !own.includes(key));
  if (!target.customers.some((key) => own.includes(key))) return false;
  return isShared ? ['see', 'endSessions', 'groups', 'customers', 'administer'].includes(act) : act !== 'role';
}

const ofCustomers: readonly Name[] = [
  'seeCustomer',
  'invite',
  'import',
  'networks',
  'policies',
  'connection',
  'testConnection',
];

describe.each(actors)('%s', (name) => {
  const actor = actorOf(name);
  it.each(acts)('%s', (act) => {
    const targets: Target[] = ofCustomers.includes(act)
      ? ['acme', 'beta', 'gamma'].map((key) => ({ kind: 'customer', key }))
      : ['me', 'other'].flatMap((userId) =>
          memberships.flatMap((customers) =>
            roles.map((role): Target => {
              const isForeign = customers.some((key) => !actor.customers.some((own) => own.key === key));
              return { kind: 'person', userId, customers, role, isForeign };
            }),
          ),
        );
    for (const target of targets)
      expect(mayAct(actor, act, target), JSON.stringify(target)).toBe(shouldMay(actor, act, target));
  });
});

it('a role is given by who has at least that one', () => {
  const given = actors.map((name) => roles.filter((role) => mayGive(actorOf(name), role)));
  expect(given).toEqual([roles, [null, 'support'], [null], [null]]);
});

it('every act of a form has its rule', () => {
  expect(acts.filter((act) => !act.startsWith('see')).sort()).toEqual([...deskActs].sort());
});

it('docs/desk.md has the same table', () => {
  const page = readFileSync(new URL('../../docs/desk.md', import.meta.url), 'utf8');
  const rows = acts.map((act) => {
    const { support, administrator, needsProof } = rules[act];
    return `| \`${act}\` | ${support ? 'yes' : 'no'} | ${administrator} | ${needsProof ? 'yes' : 'no'} |`;
  });
  for (const row of rows) expect(page).toContain(row);
});
