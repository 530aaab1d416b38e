import type { AccountPage } from './account.ts';
import type { Language } from './languages.ts';
import { type Query, withQuery } from './screens.ts';

/** Of the desk, below the base path. */
export const deskPath = '/desk';

/** The address of a page of the desk by its path below `/desk`; undefined values are omitted. */
export function deskUrl(basePath: string, path = '', query: Query = {}): string {
  return withQuery(basePath + deskPath + path, query);
}

export const personPath = (id: string) => `/people/${id}`;
export const customerPath = (key: string) => `/customers/${key}`;

/** Besides `accountFields`: the newest event that a page knew of what it is about; the reference of what was done, for the next. */
export const deskFields = { seen: 'seen', done: 'done' } as const;

/** What is done to people, and to customers; who may, and with which proof: server/desk/may-act.ts. With texts `desk-act-…`. */
export const deskActs = [
  ...(['liftWait', 'sendLink', 'resetFactor', 'keepFactor', 'endSessions', 'change', 'groups', 'customers'] as const),
  ...(['activate', 'deactivate', 'role', 'administer'] as const),
  ...(['invite', 'import', 'networks', 'policies', 'connection', 'testConnection'] as const),
] as const;
export type DeskAct = (typeof deskActs)[number];

export type DeskRole = 'operator' | 'support';

/** Why nothing was done, with texts `desk-notice-…`. */
export type DeskNotice = ProofNotice | 'changedMeanwhile' | 'entryRefused' | 'nothingChanged' | 'lastOperator';
type ProofNotice = 'otherSession' | 'tooManyAttempts' | 'codeWrong' | 'passwordWrong' | 'entryMissing' | 'notPossible';

/** The state of a person in a word, with texts `desk-state-…`; `until`: of a wait. */
export type PersonState = {
  word: 'signedIn' | 'canSignIn' | 'waits' | 'noFactor' | 'invited' | 'noCustomer' | 'inactive';
  until: Date | null;
};

type Person = { id: string; name: string };
type Named = { key: string; name: string };

/** `name`: as people are called, or the username; `customers`: by their names. */
export type PersonRow = Person & {
  username: string;
  customers: string[];
  state: PersonState;
  lastSignInAt: Date | null;
};

/** `endsAt`: when the first of its certificates and secrets ends, if that is soon. */
export type CustomerRow = Named & { active: boolean; people: number; connections: number; endsAt: Date | null };

/**
 * An event as the desk shows it, in the texts `event-…` and `reason-…`; `actor`: who did it, such as `os:alice`, null if it is their
 * own; `steps`: none where they tell of another customer than those of who looks.
 */
export type EventRow = {
  at: Date;
  event: string;
  person: Person | null;
  steps: { step: string; outcome: string }[];
} & Record<'reason' | 'actor' | 'address' | 'browser' | 'connection' | 'reference', string | null>;

/** What was decided about a request; `failure`: where that is a sign-in that failed, why, with texts `desk-why-…`; `act`: what helps. */
export type Chain = {
  event: EventRow;
  failure: string | null;
  passed: EventRow['steps'];
  unreached: string[];
  act: DeskAct | null;
};

/** What is set for a customer besides its name and networks, with texts `desk-field-…` and `desk-is-…`. `active`: by operators. */
export const customerPolicies = {
  twoFactor: ['off', 'app', 'email'],
  passkeys: ['on', 'off'],
  rememberDevices: ['on', 'off'],
  newDeviceMail: ['on', 'off'],
  active: ['on', 'off'],
} as const;
export type CustomerPolicy = keyof typeof customerPolicies;

/** The states by which a customer's people are shown, with texts `desk-is-…`. */
export const peopleFilters = ['any', 'cannotSignIn', 'noFactor', 'invited', 'inactive'] as const;

/** What typed networks would have done to last week's sign-ins; `isOwnAddressOut`: whoever types signs in here, and is left out. */
export type Rehearsal = {
  networks: string;
  signIns: number;
  refusedSignIns: number;
  refused: { person: Person; address: string; count: number }[];
  isOwnAddressOut: boolean;
};

/** What a page of the desk shows besides the frame; `acts`, `roles`: what whoever looks may do and give; `seen`: see `deskFields`. */
export type DeskView =
  | { name: 'prove'; asks: 'code' | 'signIn' | 'setUp' }
  | { name: 'search'; text: string; people: PersonRow[]; customers: CustomerRow[]; references: EventRow[] }
  | {
      name: 'person';
      id: string;
      displayName: string | null;
      username: string;
      /** This, the language and the factors: null for an administrator where the person is not theirs alone. */
      email: string | null;
      language: Language | null;
      customers: (Named & { groups: string[]; administers: boolean })[];
      role: DeskRole | null;
      state: PersonState;
      acts: DeskAct[];
      roles: DeskRole[];
      factors: {
        password: 'own' | 'none' | 'singleSignOn';
        passkeys: { name: string; lastUsedAt: Date | null }[];
        appSince: Date | null;
        recoveryCodesLeft: number;
        devices: number;
      } | null;
      sessions: { browser: string | null; address: string; lastSeenAt: Date; provider: string | null }[];
      resetAt: Date | null;
      /** What signing in would ask of them now, in order, with texts `desk-door-…`. */
      door: { step: string; values: Record<string, string>; at?: Date }[];
      /** Why the sign-in with the asked reference failed. */
      chain: Chain | null;
      events: EventRow[];
      seen: string;
    }
  | { name: 'customers'; customers: CustomerRow[] }
  | {
      name: 'customer';
      /** Not `key`, which no part of a page is given. */
      customerKey: string;
      displayName: string;
      active: boolean;
      /** Those that whoever looks may set. */
      policies: { name: CustomerPolicy; value: (typeof customerPolicies)[CustomerPolicy][number] }[];
      acts: DeskAct[];
      people: PersonRow[];
      /** Of those who meet the filter; `from`: how many come before the shown ones. */
      total: number;
      filter: { person: string; state: string; from: number };
      networks: string[];
      rehearsal: Rehearsal | null;
      /** `signIns`: of the last week; `tested`: what `connection test` found, once it was asked. */
      connections: (Named & {
        protocol: 'oidc' | 'saml';
        active: boolean;
        signIns: number;
        ends: { what: 'certificate' | 'secret'; endsAt: Date; tone: 'warn' | 'bad' | null }[];
        tested: { step: string; ok: boolean; words: string }[] | null;
      })[];
      seen: string;
    }
  | {
      name: 'import';
      customerKey: string;
      displayName: string;
      /** Whether a proof comes before a file is chosen: no file is kept meanwhile. */
      asksProof: boolean;
      /** The newest file, and how far it is. */
      last:
        | ({
            id: string;
            stage: 'checking' | 'checked' | 'running' | 'done';
            refused: { line: number; problem: string }[];
          } & Record<'lines' | 'read' | 'added' | 'unchanged' | 'refusedCount', number>)
        | null;
    }
  | {
      name: 'events';
      customers: Named[];
      filter: Record<'customer' | 'person' | 'kind' | 'from' | 'to', string>;
      events: EventRow[];
      /** The id below which the next page begins; null on the last. */
      before: string | null;
    };

export type DeskViewOf<Name extends DeskView['name']> = Extract<DeskView, { name: Name }>;

/** What a page of the desk tells its document; `actor`: who looks, `field`: what a refusal is about, `result`: what was just done. */
export type DeskPage = Pick<AccountPage, 'sessionId' | 'ask' | 'kept'> & {
  view: DeskView;
  actor: { name: string; username: string; isAdministrator: boolean };
  notice: DeskNotice | null;
  field: string | null;
  result: EventRow | null;
  begun: DeskAct | null;
};
