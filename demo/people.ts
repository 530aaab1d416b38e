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
];

/** A user of the portal; the email address is the username at the first customer's domain. */
export type Person = {
  username: string;
  customers: readonly [string, ...string[]];
  /** Without one they sign in at their provider only. */
  hasPassword: boolean;
  language?: Language;
  isInactive?: true;
  /** Has set up an authenticator app before the demo begins. */
  hasApp?: true;
};

export const people: readonly Person[] = [
  { username: 'ada', customers: ['alder'], hasPassword: true },
  { username: 'nora', customers: ['alder', 'dune'], hasPassword: true },
  { username: 'bea', customers: ['birch'], hasPassword: true, hasApp: true },
  { username: 'ben', customers: ['birch'], hasPassword: true },
  { username: 'carl', customers: ['cedar'], hasPassword: true },
  { username: 'greta', customers: ['cedar'], hasPassword: true, language: 'de' },
  { username: 'piotr', customers: ['cedar'], hasPassword: true, language: 'pl' },
  { username: 'dora', customers: ['dune'], hasPassword: true },
  { username: 'erik', customers: ['elm'], hasPassword: false },
  { username: 'faye', customers: ['fir'], hasPassword: false },
  { username: 'gina', customers: ['gorse'], hasPassword: true },
  { username: 'hugo', customers: ['hazel'], hasPassword: false },
  { username: 'ivan', customers: ['alder'], hasPassword: true, isInactive: true },
  { username: 'rosa', customers: ['alder'], hasPassword: true },
  { username: 'lena', customers: ['alder'], hasPassword: true },
];

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

/** Who has an account at which provider; some of them the portal does not know. */
export const peopleAt = {
  oidc: [
    { email: 'erik@elm.example', note: 'Elm Energy' },
    { email: 'nia@elm.example', note: 'Elm Energy, new at the portal' },
    { email: 'gina@gorse.example', note: 'Gorse Health' },
    { email: 'hugo@hazel.example', note: 'Hazel Media' },
  ],
  saml: [
    { email: 'faye@fir.example', note: 'Fir Aviation' },
    { email: 'hugo@hazel.example', note: 'Hazel Media' },
    { email: 'mallory@fir.example', note: 'unknown to the portal' },
  ],
};
