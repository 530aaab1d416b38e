import type { DeskAct, DeskRole } from '#contract/desk.ts';

/** Somebody at the desk. A role counts for every customer; without one, `customers` are those that they look after. */
export type Actor = {
  userId: string;
  username: string;
  name: string;
  role: DeskRole | null;
  customers: { id: string; key: string; name: string }[];
};

/** What something is done to: a person, with the keys of all their customers and what they may do themselves; or a customer. */
export type Target =
  | { kind: 'person'; userId: string; customers: readonly string[]; role: DeskRole | null; isForeign: boolean }
  | { kind: 'customer'; key: string };

/**
 * Who may do what besides operators, who may do everything: `administrator` of a person whose customers are all theirs (`whole`),
 * or also for their own customer of a person who has others (`part`), or of their own customer. `needsProof`: it touches a way in.
 */
type Rule = { support: boolean; administrator: 'whole' | 'part' | 'own customer' | 'never'; needsProof: boolean };

export const rules: Record<DeskAct | 'see' | 'seeCustomer', Rule> = {
  see: { support: true, administrator: 'part', needsProof: false },
  liftWait: { support: true, administrator: 'whole', needsProof: false },
  sendLink: { support: true, administrator: 'whole', needsProof: true },
  resetFactor: { support: true, administrator: 'whole', needsProof: true },
  keepFactor: { support: true, administrator: 'whole', needsProof: false },
  endSessions: { support: true, administrator: 'part', needsProof: false },
  change: { support: true, administrator: 'whole', needsProof: true },
  groups: { support: true, administrator: 'part', needsProof: false },
  customers: { support: true, administrator: 'part', needsProof: true },
  activate: { support: true, administrator: 'whole', needsProof: true },
  deactivate: { support: true, administrator: 'whole', needsProof: true },
  role: { support: true, administrator: 'never', needsProof: true },
  administer: { support: false, administrator: 'part', needsProof: true },
  seeCustomer: { support: true, administrator: 'own customer', needsProof: false },
  invite: { support: true, administrator: 'own customer', needsProof: true },
  import: { support: false, administrator: 'own customer', needsProof: true },
  networks: { support: false, administrator: 'own customer', needsProof: true },
  policies: { support: false, administrator: 'own customer', needsProof: true },
  connection: { support: false, administrator: 'own customer', needsProof: true },
  testConnection: { support: true, administrator: 'own customer', needsProof: false },
};

/** Whether somebody at the desk may do this. Nobody acts on themselves here, nor on somebody who may do more than they. */
export function mayAct(actor: Actor, act: keyof typeof rules, target: Target): boolean {
  const rule = rules[act];
  const own = actor.customers.map(({ key }) => key);
  if (target.kind === 'customer') {
    if (actor.role !== null) return actor.role === 'operator' || rule.support;
    return rule.administrator === 'own customer' && own.includes(target.key);
  }
  if (act !== 'see' && (target.userId === actor.userId || rank(target.role) > rank(actor.role))) return false;
  if (actor.role !== null) return actor.role === 'operator' || rule.support;
  if (!target.customers.some((key) => own.includes(key))) return false;
  return rule.administrator === 'part' || (rule.administrator === 'whole' && !target.isForeign);
}

/** A role is given, or taken, by who has at least that one. */
export function mayGive(actor: Actor, role: DeskRole | null): boolean {
  return rank(role) <= rank(actor.role);
}

function rank(role: DeskRole | null): number {
  return role === 'operator' ? 2 : role === 'support' ? 1 : 0;
}
