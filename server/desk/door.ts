import type { Chain, DeskAct, DeskViewOf } from '#contract/desk.ts';
import type { AuditEventRow } from '../audit/audit-event.ts';
import { reasonToRefuse, whatIsAsked } from '../sign-in/sign-in-rules.ts';
import type { DeskVisit } from './desk-visit.ts';
import { eventRowOf } from './events.ts';
import type { FoundPerson } from './find-person.ts';

type DoorStep = DeskViewOf<'person'>['door'][number];

/** What a sign-in would meet now from a network that is admitted, in order, by the rules that it goes by; with texts `desk-door-…`. */
export function doorNow(person: FoundPerson): DoorStep[] {
  const customers = person.customers.filter(({ active }) => active);
  const admitted = customers.map(() => ({ admits: true }));
  const refused = reasonToRefuse({ ...person, passwordHash: '', ssoRequired: false, customers: admitted }, true);
  if (refused) return [{ step: refused, values: {} }];
  const first = firstStep(person, customers);
  if (first.step === 'no-password') return [first];
  const asked = whatIsAsked({
    ...person,
    hasApp: person.appSince !== null,
    hasPasskeyForApp:
      person.passkeys.some(({ isUsable }) => isUsable) &&
      person.customers.some(({ twoFactor, passkeys }) => twoFactor === 'app' && passkeys !== 'off'),
    maySetUp: true,
    customers,
    rememberedBy: null,
    setsUpApp: false,
  });
  const has = { app: person.appSince !== null, email: person.isEmailConfirmed, passkey: true };
  const names = customers.map(({ name }) => name).join(', ');
  return [
    ...(person.waitsUntil ? [{ step: 'wait', values: {}, at: person.waitsUntil }] : []),
    ...(customers.every(({ isFenced }) => isFenced) ? [{ step: 'networks', values: { customers: names } }] : []),
    first,
    ...asked.map((factor) => ({ step: has[factor] ? factor : `${factor}-new`, values: {} })),
    { step: 'in', values: {} },
  ];
}

function firstStep(person: FoundPerson, customers: FoundPerson['customers']): DoorStep {
  const { hasPassword, ssoRequired, ssoPossible } = person;
  if (ssoRequired || (!hasPassword && ssoPossible)) return { step: 'provider', values: {} };
  if (!hasPassword) return { step: 'no-password', values: {} };
  const isTaken = customers.some(({ passkeys }) => passkeys !== 'off');
  const usable = person.passkeys.filter(({ isUsable }) => isUsable && isTaken);
  if (usable.length === 0) return { step: 'password', values: {} };
  return { step: 'password-or-passkey', values: { passkeys: usable.map(({ name }) => name).join(', ') } };
}

/** The step at which a sign-in failed, as `stepsOf` and `stepsOfUser` name it, and what helps. */
const failures: Record<string, { at: string; act: DeskAct | null }> = {
  'throttled-account': { at: 'throttle', act: 'liftWait' },
  'throttled-device': { at: 'throttle', act: 'liftWait' },
  'throttled-address': { at: 'throttle', act: null },
  'wrong-password': { at: 'password', act: 'sendLink' },
  'no-password': { at: 'password', act: 'sendLink' },
  inactive: { at: 'active', act: 'activate' },
  'no-customer': { at: 'customers', act: null },
  'single-sign-on-required': { at: 'networks', act: null },
  network: { at: 'networks', act: null },
  'code-throttled': { at: 'code', act: 'liftWait' },
  'code-refused': { at: 'code', act: 'resetFactor' },
  'second-factor-ended': { at: 'code', act: 'resetFactor' },
};

/** The steps of a sign-in, in order. */
const order = ['throttle', 'password', 'active', 'customers', 'networks', 'code'];

/**
 * What was decided under a reference: what had passed, what was not reached, and the act that helps, if whoever looks may do it. Of
 * several events the one that kept the person out, else the last.
 */
export function chainOf(desk: DeskVisit, events: readonly AuditEventRow[], acts: readonly DeskAct[]): Chain | null {
  const event = events.find((event) => failureOf(event) !== null) ?? events[0];
  if (!event) return null;
  const failure = failureOf(event);
  const row = eventRowOf(desk, event);
  const { at, act } = failures[failure ?? ''] ?? { at: '', act: null };
  const failedAt = row.steps.findIndex(({ step }) => step.split(' ', 1)[0] === at);
  return {
    event: row,
    failure,
    passed: failedAt < 0 ? row.steps : row.steps.slice(0, failedAt),
    unreached: failure === null ? [] : order.slice(order.indexOf(at) + 1),
    act: acts.find((helpful) => helpful === act) ?? null,
  };
}

/** A refusal of another kind, such as one of a provider, is told by its own reason alone. */
function failureOf({ event, reason }: AuditEventRow): string | null {
  const failure = event === 'sign-in-refused' ? reason : event;
  return failure !== null && Object.hasOwn(failures, failure) ? failure : null;
}
