import { office } from './people.ts';
import type { Behaviour } from './providers/provider-pages.ts';

/** One thing to try: what to do, what happens then, and where it begins. */
export type Case = {
  id: string;
  title: string;
  text: string;
  /** The account whose name is filled in; its password is shown. */
  username?: string;
  /** One of theirs, shown beside the password. */
  recoveryCode?: string;
  /** On somebody’s screen. */
  reference?: string;
  /** Where it begins, at the portal's origin. */
  path: string;
  /** How the providers answer meanwhile. */
  oidc?: Behaviour;
  saml?: Behaviour;
  /** The page of the demo that the case needs next. */
  next?: 'inbox' | 'authenticator' | 'explain';
  /** Begins at the provider's own page, or at a page of the demo, instead. */
  at?: 'saml' | '/inbox' | '/brand';
};

export type CaseGroup = { id: string; title: string; cases: readonly Case[] };

const signIn = (username: string, more = '') => `/portal/login?login=${username}${more}`;
const atDesk = (username: string, page = '') => signIn(username, `&destination=%2Fportal%2Fdesk${page}`);
const singleSignOn = (email: string) => `/portal/singleSignOn?login=${encodeURIComponent(email)}`;

/** Nobody in particular: where “Look around” begins. */
export const visitor: Case = { id: 'visitor', title: 'The portal', text: '', path: '/portal/login' };

/** What was made for a case when the portal was filled. */
type MadeForCases = { expiredToken: string; recoveryCode: string; reference: string };

/** Every screen of the portal is reached by at least one case. */
export const caseGroups = ({ expiredToken, recoveryCode, reference }: MadeForCases): readonly CaseGroup[] => [
  {
    id: 'password',
    title: 'Name and password',
    cases: [
      {
        id: 'plain',
        title: 'Just sign in',
        text: 'Paste the password. You land in the sample hub, which knows who you are.',
        username: 'ada',
        path: signIn('ada'),
      },
      {
        id: 'deep-link',
        title: 'A deep link',
        text: 'The link leads into the hub, and the portal asks who you are: type ada, paste the password. Then you are at March, region kept.',
        username: 'ada',
        path: '/hub/reports?year=2026&region=north#march',
      },
      {
        id: 'two-customers',
        title: 'Two customers, one network',
        text: 'Nora works for Alder and Dune, but Dune admits only its own network. The hub shows Alder alone.',
        username: 'nora',
        path: signIn('nora'),
      },
      {
        id: 'wrong',
        title: 'Wrong password',
        text: 'Type anything. The answer would be the same if there were no lena. Press “Contact support” beside the reference: that is what support sees of it.',
        path: signIn('lena'),
        next: 'explain',
      },
      {
        id: 'inactive',
        title: 'Inactive user',
        text: 'Paste the right password: the answer is still the same as for a wrong one.',
        username: 'ivan',
        path: signIn('ivan'),
      },
      {
        id: 'network',
        title: 'Wrong network',
        text: 'Dune admits only its office network. The right password is refused, and you see your address.',
        username: 'dora',
        path: signIn('dora'),
        next: 'explain',
      },
    ],
  },
  {
    id: 'second-factor',
    title: 'Second factor',
    cases: [
      {
        id: 'app',
        title: 'Code from an app',
        text: 'After the password, type the code that the authenticator shows for bea.',
        username: 'bea',
        path: signIn('bea'),
        next: 'authenticator',
      },
      {
        id: 'app-new',
        title: 'Set up an app',
        text: 'Ben must set up an app first. Ours finds his key by itself; after its code come the recovery codes.',
        username: 'ben',
        path: signIn('ben'),
        next: 'authenticator',
      },
      {
        id: 'email',
        title: 'Code by email',
        text: 'After the password, a code is sent by email. It is in the inbox within a second.',
        username: 'carl',
        path: signIn('carl'),
        next: 'inbox',
      },
      {
        id: 'remembered',
        title: 'A remembered browser',
        text: 'Tick “Don’t ask for a code on this device for 30 days”. Then sign out in the hub’s menu and sign in again: no code is asked for.',
        username: 'bea',
        path: signIn('bea'),
        next: 'authenticator',
      },
      {
        id: 'recovery',
        title: 'The phone is gone',
        text: 'After the password, choose to use a recovery code instead. Each of rita’s ten works once.',
        username: 'rita',
        recoveryCode,
        path: signIn('rita'),
      },
    ],
  },
  {
    id: 'single-sign-on',
    title: 'Single sign-on',
    cases: [
      {
        id: 'oidc',
        title: 'OpenID Connect',
        text: 'Send the address, then pick erik at the provider. Signing out of the hub signs out there too.',
        username: 'erik',
        path: singleSignOn('erik@elm.example'),
      },
      {
        id: 'oidc-new',
        title: 'Somebody new',
        text: 'The portal has no user nia yet. Send the address and pick nia: Elm’s provider vouches for her, so she gets an account.',
        path: singleSignOn('nia@elm.example'),
      },
      {
        id: 'saml',
        title: 'SAML',
        text: 'The same by SAML: send the address, then pick faye.',
        username: 'faye',
        path: singleSignOn('faye@fir.example'),
      },
      {
        id: 'saml-begins',
        title: 'Begin at the provider',
        text: 'Press “Open the hub” there. The portal expected nobody, so it begins a visit of its own: pick faye.',
        path: '/',
        at: 'saml',
      },
      {
        id: 'required',
        title: 'Single sign-on only',
        text: 'Gorse requires single sign-on. Paste the password all the same: it is not even looked at, and the portal leads to the provider.',
        username: 'gina',
        path: signIn('gina%40gorse.example'),
      },
      {
        id: 'two-connections',
        title: 'Two providers',
        text: 'Hazel has one for the office and one for field staff: the portal asks which. Pick hugo at either.',
        username: 'hugo',
        path: singleSignOn('hugo@hazel.example'),
      },
    ],
  },
  {
    id: 'provider-trouble',
    title: 'When a provider fails',
    cases: [
      {
        id: 'cancel',
        title: 'Cancel',
        text: 'Press Cancel at the provider. You are back at the portal, with a reference for support.',
        path: singleSignOn('erik@elm.example'),
      },
      {
        id: 'oidc-audience',
        title: 'Wrong audience',
        text: 'Pick erik. The provider answers with a token for another application, and the portal refuses it.',
        path: singleSignOn('erik@elm.example'),
        oidc: 'audience',
      },
      {
        id: 'saml-expired',
        title: 'Expired answer',
        text: 'Pick faye. The SAML answer is correctly signed, but its time ended an hour ago: refused.',
        path: singleSignOn('faye@fir.example'),
        saml: 'expired',
      },
      {
        id: 'oidc-slow',
        title: 'Slow provider',
        text: 'Pick erik and wait five seconds: the portal waits too, then you are in.',
        path: singleSignOn('erik@elm.example'),
        oidc: 'slow',
      },
      {
        id: 'oidc-down',
        title: 'Provider down',
        text: 'The provider no longer answers the portal. Pick erik, if you get that far: you are not in, and have a reference for support.',
        path: singleSignOn('erik@elm.example'),
        oidc: 'down',
      },
      {
        id: 'stranger',
        title: 'A stranger',
        text: 'Pick mallory: the provider knows them, the portal does not.',
        path: singleSignOn('faye@fir.example'),
      },
    ],
  },
  {
    id: 'forgotten',
    title: 'Forgotten password',
    cases: [
      {
        id: 'reset',
        title: 'Ask for a link',
        text: 'Send the address, open the link in the inbox and choose a new password, which is rosa’s from then on.',
        username: 'rosa',
        path: '/portal/forgotten?login=rosa%40alder.example',
        next: 'inbox',
      },
      {
        id: 'reset-sso',
        title: 'Nothing to reset',
        text: 'Erik has no password. The answer is the same, and the email tells him how he signs in.',
        username: 'erik',
        path: '/portal/forgotten?login=erik%40elm.example',
        next: 'inbox',
      },
      {
        id: 'expired-link',
        title: 'Expired link',
        text: 'A link that ended half an hour before the demo began. The page says so, and offers a new one.',
        path: `/portal/forgottenChange?hash=${expiredToken}`,
      },
    ],
  },
  {
    id: 'once-in',
    title: 'Once you are in',
    cases: [
      {
        id: 'account',
        title: 'Your own account',
        text: 'Ada’s sessions, recent sign-ins, second factor and password, in one place. The hub’s menu leads there too.',
        username: 'ada',
        path: '/portal/login?login=ada&destination=%2Fportal%2Faccount',
      },
      {
        id: 'passkey',
        title: 'A passkey',
        text: 'Add one, sign out, and sign in with it. No fingerprint reader here? In Chrome’s developer tools, “More tools › WebAuthn” adds a virtual authenticator to this tab.',
        username: 'ada',
        path: '/portal/login?login=ada&destination=%2Fportal%2Faccount%2Fpasskeys',
      },
      {
        id: 'invitation',
        title: 'An invitation',
        text: 'Ines is new at Alder and has no password yet. Her invitation is in the inbox: open its link and choose one.',
        path: '/inbox',
        at: '/inbox',
      },
      {
        id: 'brand',
        title: 'Your own brand',
        text: 'Give the portal another name and colour, and see what it looks like.',
        path: '/brand',
        at: '/brand',
      },
    ],
  },
  {
    id: 'desk',
    title: 'The desk',
    cases: [
      {
        id: 'desk-support',
        title: 'Support',
        text: 'Lars cannot get in, and reads out his reference. Sam searches for it, sees why, and lifts the wait.',
        username: 'sam',
        reference,
        path: atDesk('sam'),
        next: 'authenticator',
      },
      {
        id: 'desk-administrator',
        title: 'An administrator',
        text: `Hana looks after Hazel alone: a secret that ends soon, somebody to invite, or the network ${office}, rehearsed against last week.`,
        username: 'hana',
        path: atDesk('hana', '%2Fcustomers%2Fhazel'),
        next: 'authenticator',
      },
      {
        id: 'desk-operator',
        title: 'An operator',
        text: 'Olga may do everything: give a role, say to lena; import people from a CSV file; read every event.',
        username: 'olga',
        path: atDesk('olga', '%2Fcustomers'),
        next: 'authenticator',
      },
    ],
  },
  {
    id: 'languages',
    title: 'Languages and dead ends',
    cases: [
      {
        id: 'german',
        title: 'Deutsch',
        text: 'The screens are in German, and so is the email with the code: greta has chosen it.',
        username: 'greta',
        path: signIn('greta', '&lang=de'),
        next: 'inbox',
      },
      {
        id: 'polish',
        title: 'Polski',
        text: 'The same in Polish. Spanish, Dutch and Italian are in the footer of every screen.',
        username: 'piotr',
        path: signIn('piotr', '&lang=pl'),
        next: 'inbox',
      },
      {
        id: 'not-found',
        title: 'No such page',
        text: 'An address that leads nowhere, and the ways on from it.',
        path: '/portal/no-such-page',
      },
    ],
  },
];
