import type { DeskRole } from '#contract/desk.ts';
import type { Language } from '#contract/languages.ts';
import type { NewCustomer } from '#server/people/customer.ts';

/** A network of documentation addresses (RFC 5737): nobody is in it. */
export const elsewhere = '203.0.113.0/24';

/** One customer for each rule that a customer can have. */
export const customers: readonly NewCustomer[] = [
  { key: 'alder', name: 'Alder & Sons', allowedNetworks: [], twoFactor: 'off' },
  { key: 'birch', name: 'Birch Logistics', allowedNetworks: [], twoFactor: 'app' },
  { key: 'cedar', name: 'Cedar Foods', allowedNetworks: [], twoFactor: 'email' },
  { key: 'dune', name: 'Dune Shipping', allowedNetworks: [elsewhere], twoFactor: 'off' },
  { key: 'elm', name: 'Elm Energy', allowedNetworks: [], twoFactor: 'off' },
  { key: 'fir', name: 'Fir Aviation', allowedNetworks: [], twoFactor: 'off' },
  { key: 'gorse', name: 'Gorse Health', allowedNetworks: [], twoFactor: 'off' },
  { key: 'hazel', name: 'Hazel Media', allowedNetworks: [], twoFactor: 'off' },
  { key: 'quayside', name: 'Quayside', allowedNetworks: [], twoFactor: 'off' },
];

/** A user of the portal; the email address is the username at the first customer's domain. */
export type Person = {
  username: string;
  name: string;
  customers: readonly [string, ...string[]];
  /** Of the first customer. */
  groups?: readonly string[];
  /** Without one they sign in at their provider only. */
  hasPassword: boolean;
  language?: Language;
  isInactive?: true;
  /** Has set up an authenticator app before the demo begins. */
  hasApp?: true;
  /** Gets an email with a link to choose the first password. */
  isInvited?: true;
  /** At the desk, for every customer. */
  role?: DeskRole;
  /** Looks after their first customer at the desk. */
  administers?: true;
};

export const people: readonly Person[] = [
  { username: 'ada', name: 'Ada Keller', customers: ['alder'], groups: ['planning', 'management'], hasPassword: true },
  { username: 'nora', name: 'Nora Lind', customers: ['alder', 'dune'], groups: ['planning'], hasPassword: true },
  { username: 'bea', name: 'Bea Santos', customers: ['birch'], groups: ['planning'], hasPassword: true, hasApp: true },
  { username: 'ben', name: 'Ben Okafor', customers: ['birch'], hasPassword: true },
  { username: 'carl', name: 'Carl Jensen', customers: ['cedar'], groups: ['dispatch'], hasPassword: true },
  {
    username: 'greta',
    name: 'Greta Vogel',
    customers: ['cedar'],
    groups: ['planning'],
    hasPassword: true,
    language: 'de',
  },
  {
    username: 'piotr',
    name: 'Piotr Zieliński',
    customers: ['cedar'],
    groups: ['dispatch'],
    hasPassword: true,
    language: 'pl',
  },
  { username: 'dora', name: 'Dora Moreau', customers: ['dune'], hasPassword: true },
  { username: 'erik', name: 'Erik Dahl', customers: ['elm'], hasPassword: false },
  { username: 'faye', name: 'Faye Brooks', customers: ['fir'], hasPassword: false },
  { username: 'gina', name: 'Gina Rossi', customers: ['gorse'], hasPassword: true },
  { username: 'hugo', name: 'Hugo Peeters', customers: ['hazel'], hasPassword: false },
  { username: 'ivan', name: 'Ivan Petrov', customers: ['alder'], hasPassword: true, isInactive: true },
  { username: 'rosa', name: 'Rosa Ortiz', customers: ['alder'], hasPassword: true },
  { username: 'rita', name: 'Rita Haas', customers: ['birch'], hasPassword: true, hasApp: true },
  { username: 'ines', name: 'Inês Duarte', customers: ['alder'], hasPassword: false, isInvited: true },
  { username: 'lena', name: 'Lena Fischer', customers: ['alder'], hasPassword: true },
  { username: 'lars', name: 'Lars Holm', customers: ['alder'], groups: ['dispatch'], hasPassword: true },
  { username: 'olga', name: 'Olga Marsh', customers: ['quayside'], hasPassword: true, hasApp: true, role: 'operator' },
  { username: 'sam', name: 'Sam Whitfield', customers: ['quayside'], hasPassword: true, hasApp: true, role: 'support' },
  { username: 'hana', name: 'Hana Novak', customers: ['hazel'], hasPassword: true, hasApp: true, administers: true },
  { username: 'henk', name: 'Henk de Wit', customers: ['hazel'], groups: ['editorial'], hasPassword: true },
  { username: 'hilda', name: 'Hilda Braun', customers: ['hazel'], hasPassword: true },
  { username: 'iris', name: 'Iris Lund', customers: ['hazel'], hasPassword: false, isInvited: true },
];

/** The network of Hazel's office, of documentation addresses (RFC 5737). */
export const office = '198.51.100.0/24';

/** Hazel's sign-ins of the last week, which a network is rehearsed against. */
export const lastWeek = [
  { username: 'henk', address: '198.51.100.20', browser: 'Firefox, Windows', times: 14 },
  { username: 'hilda', address: '198.51.100.21', browser: 'Chrome, Windows', times: 12 },
  { username: 'hana', address: '198.51.100.7', browser: 'Safari, macOS', times: 9 },
  { username: 'henk', address: '203.0.113.86', browser: 'Safari, iOS', times: 3 },
] as const;

export function emailOf({ username, customers: [customer] }: Pick<Person, 'username' | 'customers'>): string {
  return `${username}@${customer}.example`;
}

/** The connections, one row for each: whose users come by which protocol. */
export const connections = [
  { key: 'elm', protocol: 'oidc', customer: 'elm', name: 'Elm Energy', makesUsers: true, required: false },
  { key: 'fir', protocol: 'saml', customer: 'fir', name: 'Fir Aviation', makesUsers: false, required: false },
  { key: 'gorse', protocol: 'oidc', customer: 'gorse', name: 'Gorse Health', makesUsers: false, required: true },
  {
    key: 'hazel-office',
    protocol: 'oidc',
    customer: 'hazel',
    name: 'Hazel office',
    makesUsers: false,
    required: false,
  },
  {
    key: 'hazel-field',
    protocol: 'saml',
    customer: 'hazel',
    name: 'Hazel field staff',
    makesUsers: false,
    required: false,
  },
] as const;

/** Who has an account at which provider, which also says their groups; some of them the portal does not know. */
export const peopleAt = {
  oidc: [
    { email: 'erik@elm.example', name: 'Erik Dahl', groups: ['planning', 'grid'], note: 'Elm Energy' },
    { email: 'nia@elm.example', name: 'Nia Evans', groups: ['grid'], note: 'Elm Energy, new at the portal' },
    { email: 'gina@gorse.example', name: 'Gina Rossi', groups: ['wards'], note: 'Gorse Health' },
    { email: 'hugo@hazel.example', name: 'Hugo Peeters', groups: ['office'], note: 'Hazel Media' },
  ],
  saml: [
    { email: 'faye@fir.example', name: 'Faye Brooks', groups: ['management', 'crew'], note: 'Fir Aviation' },
    { email: 'hugo@hazel.example', name: 'Hugo Peeters', groups: ['field'], note: 'Hazel Media' },
    { email: 'mallory@fir.example', name: 'Mallory Quist', groups: [], note: 'unknown to the portal' },
  ],
};
