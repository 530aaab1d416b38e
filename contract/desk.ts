import type { AskedProof } from './account.ts';
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

/**
 * The fields of the desk's forms besides those of the account page (`accountFields`): the newest event that the page knew of what
 * it is about, and the reference of what a form has done, for the page that comes next.
 */
export const deskFields = { seen: 'seen', done: 'done', reference: 'reference' } as const;

/** What is done at the desk; who may, of whom, and with which proof: server/desk/may-act.ts. Each has its texts `desk-act-…`. */
export const deskActs = [
  // on a person
  ...(['liftWait', 'sendLink', 'resetFactor', 'keepFactor', 'endSessions', 'change', 'groups', 'customers'] as const),
  ...(['activate', 'deactivate', 'role', 'administer'] as const),
  // on a customer
  ...(['invite', 'import', 'networks', 'policies', 'connection', 'testConnection'] as const),
] as const;
export type DeskAct = (typeof deskActs)[number];

export type DeskRole = 'operator' | 'support';

/** Why nothing was done, or what the page says besides; each has its text `desk-notice-…`. */
export type DeskNotice =
  | 'otherSession'
  | 'changedMeanwhile'
  | 'ownAccount'
  | 'lastOperator'
  | 'entryRefused'
  | 'nothingChanged'
  | 'notPossible'
  | 'tooManyAttempts'
  | 'codeWrong'
  | 'passwordWrong'
  | 'entryMissing';

/** The state of a person in a word, with texts `desk-state-…`; `until`: of a wait. */
export type PersonState = {
  word: 'signedIn' | 'canSignIn' | 'waits' | 'noFactor' | 'invited' | 'noCustomer' | 'inactive';
  until: Date | null;
};

export type PersonRow = {
  id: string;
  /** As people are called, or the username. */
  name: string;
  username: string;
  /** By their names. */
  customers: string[];
  state: PersonState;
  lastSignInAt: Date | null;
};

export type CustomerRow = {
  key: string;
  name: string;
  active: boolean;
  people: number;
  connections: number;
  /** When the first of its certificates and secrets ends, if that is soon. */
  endsAt: Date | null;
};

/** An event as the desk shows it, in the texts `event-…` and `reason-…`. */
export type EventRow = {
  at: Date;
  event: string;
  reason: string | null;
  person: { id: string; name: string } | null;
  /** Who did it, such as `os:alice` or `user:ada`; null if it is their own. */
  actor: string | null;
  address: string | null;
  browser: string | null;
  connection: string | null;
  reference: string | null;
  /** Empty where they tell of another customer than those of who looks. */
  steps: { step: string; outcome: string }[];
};

/** What a page of the desk shows besides the frame. */
export type DeskView =
  | { name: 'prove'; asks: 'code' | 'signIn' | 'setUp' }
  | { name: 'search'; text: string; people: PersonRow[]; customers: CustomerRow[]; references: EventRow[] }
  | PersonView
  | { name: 'customers'; customers: CustomerRow[] }
  | CustomerView
  | ImportView
  | EventsView;

type PersonView = {
  name: 'person';
  id: string;
  displayName: string | null;
  username: string;
  /** Null for an administrator where the person is not theirs alone. */
  email: string | null;
  language: Language | null;
  customers: { key: string; name: string; groups: string[]; administers: boolean }[];
  role: DeskRole | null;
  state: PersonState;
  /** What whoever looks may do with them. */
  acts: DeskAct[];
  /** Which roles they may give. */
  roles: DeskRole[];
  /** Null as `email` is. */
  factors: {
    password: 'own' | 'none' | 'singleSignOn';
    passkeys: { name: string; lastUsedAt: Date | null }[];
    appSince: Date | null;
    recoveryCodesLeft: number;
    devices: number;
  } | null;
  sessions: { browser: string | null; address: string; lastSeenAt: Date; provider: string | null }[];
  /** When their second factor will be reset. */
  resetAt: Date | null;
  /** What the door would ask of them now, in order, with texts `desk-door-…`. */
  door: { step: string; values: Record<string, string>; at?: Date }[];
  /** Why the sign-in with the asked reference failed. */
  chain: Chain | null;
  events: EventRow[];
  /** For `deskFields.seen`. */
  seen: string;
};

/** What was decided about a request; `failure`: where that is a sign-in that failed, why, with texts `desk-why-…`; `act`: what helps. */
export type Chain = {
  event: EventRow;
  failure: string | null;
  passed: EventRow['steps'];
  unreached: string[];
  act: DeskAct | null;
};

/** What is set for a customer besides its name and networks, and to what; with texts `desk-field-…` and `desk-is-…`. `active`: by operators only. */
export const customerPolicies = {
  twoFactor: ['off', 'app', 'email'],
  passkeys: ['on', 'off'],
  rememberDevices: ['on', 'off'],
  newDeviceMail: ['on', 'off'],
  active: ['on', 'off'],
} as const;
export type CustomerPolicy = keyof typeof customerPolicies;
export type PolicyValue = (typeof customerPolicies)[CustomerPolicy][number];

/** The states by which a customer's people are shown; with texts `desk-is-…`. */
export const peopleFilters = ['any', 'cannotSignIn', 'noFactor', 'invited', 'inactive'] as const;
export type PeopleFilter = (typeof peopleFilters)[number];

type CustomerView = {
  name: 'customer';
  /** Not `key`, which no part of a page is given. */
  customerKey: string;
  displayName: string;
  active: boolean;
  /** Those that whoever looks may set. */
  policies: { name: CustomerPolicy; value: PolicyValue }[];
  /** What whoever looks may do with it. */
  acts: DeskAct[];
  people: PersonRow[];
  /** Of those who meet the filter; `from`: how many come before the shown ones. */
  total: number;
  filter: { person: string; state: string; from: number };
  networks: string[];
  rehearsal: Rehearsal | null;
  connections: {
    key: string;
    name: string;
    protocol: 'oidc' | 'saml';
    active: boolean;
    /** Of the last week. */
    signIns: number;
    ends: { what: 'certificate' | 'secret'; endsAt: Date; tone: 'warn' | 'bad' | null }[];
    /** What `connection test` found, once it was asked. */
    tested: { step: string; ok: boolean; words: string }[] | null;
  }[];
  seen: string;
};

/** What typed networks would have done to the sign-ins of the last week. */
export type Rehearsal = {
  networks: string;
  signIns: number;
  refusedSignIns: number;
  /** The first of them by their number. */
  refused: { person: { id: string; name: string }; address: string; count: number }[];
  /** Whether whoever types signs in here, and is left out. */
  isOwnAddressOut: boolean;
};

type ImportView = {
  name: 'import';
  customerKey: string;
  displayName: string;
  /** Whether a proof comes before a file is chosen: no file is kept meanwhile. */
  asksProof: boolean;
  /** The newest file, and how far it is. */
  last: {
    id: string;
    stage: 'checking' | 'checked' | 'running' | 'done';
    lines: number;
    read: number;
    added: number;
    unchanged: number;
    refused: { line: number; problem: string }[];
    refusedCount: number;
  } | null;
};

type EventsView = {
  name: 'events';
  customers: { key: string; name: string }[];
  filter: { customer: string; person: string; kind: string; from: string; to: string };
  events: EventRow[];
  /** The id below which the next page begins; null on the last. */
  before: string | null;
};

export type DeskViewOf<Name extends DeskView['name']> = Extract<DeskView, { name: Name }>;

/** What a page of the desk tells its document besides what every page is told. */
export type DeskPage = {
  view: DeskView;
  /** Who looks. */
  actor: { name: string; username: string; isAdministrator: boolean };
  /** The path of the page below `/desk`. */
  path: string;
  /** Names the session that the page belongs to; opens nothing. */
  sessionId: string;
  notice: DeskNotice | null;
  /** The field that a refusal is about. */
  field: string | null;
  /** What was done just now, as it was recorded. */
  result: EventRow | null;
  /** What was begun, with `ask` if it needs a proof first. */
  begun: DeskAct | null;
  ask: AskedProof | null;
  /** The fields of what was begun that are no secrets. */
  kept: Record<string, string>;
};
