import en from '#messages/en.json' with { type: 'json' };

/** The names in the keys of texts that begin so: an event or a reason without words for people is a compile error. */
type Named<Prefix extends string, Key = keyof typeof en> = Key extends `${Prefix}-${infer Name}` ? Name : never;

type AuditEventName = Named<'event'>;

/** Why something was refused, or what came of a request for a link, for operators only: visitors see less (docs/events.md). */
export type RefusalReason = Exclude<Named<'reason'>, `sso-${string}`>;

/** The same of a sign-in through an identity provider. */
export type SsoRefusalReason = Named<'reason-sso'>;

const texts: Record<string, string> = en;

/** Every recorded event, in words. */
export const auditEvents: ReadonlyMap<string, string> = new Map(
  Object.entries(texts).flatMap(([key, words]) => (key.startsWith('event-') ? [[key.slice(6), words]] : [])),
);

/** A reason with what it means. */
export function reasonInWords(event: string, reason: string): string {
  const words = texts[`reason-${event === 'sso-refused' ? 'sso-' : ''}${reason}`];
  return words ? `${reason}: ${words}` : reason;
}

/** One decision that led to an answer, in words for the operator; never a password, code, token or secret. */
export type AuditStep = { step: string; outcome: string };

/**
 * The fields of an event besides its time; absent means unknown or not applicable. `customerKey` holds several keys with a
 * comma in between, if the user has several customers; `connectionId` stands for `connection`, the key, where only the id
 * is known.
 */
export type AuditEvent = {
  event: AuditEventName;
  reason?: string;
  reference?: string;
  userId?: string;
  username?: string;
  customerKey?: string;
  connection?: string;
  connectionId?: string;
  address?: string;
  /** As people call it, for whom to recognise their own sign-ins. */
  browser?: string | null;
  requestId?: string;
  steps?: AuditStep[];
  /** Who did it: `os:alice` by a command, or the username of who did it on their account page. */
  actor?: string;
};

/** Who does something, and when, for its event; at the desk also by which request, whose reference the next page shows. */
export type By = { actor: string; now: Date } & Pick<AuditEvent, 'requestId' | 'reference' | 'address'>;

/** The same of a change that is made of what somebody saw: up to which act (`newestActOn`). Without it nothing is compared. */
export type ByWhoSaw = By & { seen?: string | undefined };

/** The customers of an event, each once, by their keys. */
export function customersOfEvent(customers: readonly (string | { key: string })[]): Pick<AuditEvent, 'customerKey'> {
  const keys = new Set(customers.map((customer) => (typeof customer === 'string' ? customer : customer.key)));
  return keys.size === 0 ? {} : { customerKey: [...keys].join(', ') };
}

type Whose = { id: string; username: string; customers: readonly (string | { key: string })[] };

/** Of whom an event is. */
export function whoseEvent({ id, username, customers }: Whose) {
  return { userId: id, username, ...customersOfEvent(customers) };
}
