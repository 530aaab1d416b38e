import type { Language } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import type { Brand } from '../brand/brand.ts';
import type { Config } from '../config/config.ts';
import type { BuiltPages } from '../http/built-pages.ts';
import { composeMail } from '../mail/compose-mail.ts';
import { type Mail, mailKinds } from '../storage/mail-kinds.ts';

/** One document of a preview, with a caption; a mail is shown at another size. */
export type Preview = { caption: string; kind: 'screen' | 'mail'; html: string };

const secondFactor = { account: 'ada.lovelace', mayRemember: true, mayRecover: true, sendAgainAfter: null };
/** A drawing of a code: a real one would be of nobody. */
const qrCode = `data:image/svg+xml,${encodeURIComponent(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 29 29'><path fill='#fff' d='M0 0h29v29H0z'/><path d='M4 4h7v7H4zm14 0h7v7h-7zM4 18h7v7H4zm10-4h3v3h-3zm5 4h6v2h-6zm-5 4h3v3h-3zm7 1h4v2h-4z'/></svg>",
)}`;
const registration = { url: qrCode, totpSecret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' };
const code = 'KQ7M-2XTP';
const hash = 'A'.repeat(43);

/** Every screen and what it shows besides its address, and the pages that have none. */
const screens: [caption: string, path: string, more?: Partial<Page>][] = [
  ['Sign in', '/login'],
  ['Sign-in failed', '/loginfail/default', { reference: 'K7M2-XTPQ' }],
  ['Network not approved', '/loginfail/ip?ipaddress=203.0.113.42', { reference: 'K7M2-XTPQ' }],
  ['Single sign-on', '/singleSignOn'],
  ['Single sign-on failed', '/loginfail/oidc'],
  ['Forgotten password', '/forgotten'],
  ['Email sent', '/emailInfo'],
  ['New password', `/forgottenChange?hash=${hash}`],
  ['Invitation', `/forgottenChange?hash=${hash}`, { invitation: 'choice' }],
  ['Password changed', '/forgottenChangedInfo'],
  ['Change failed', '/forgottenChangeFailedInfo?reason=3'],
  ['Code', '/twoFactor', { secondFactor }],
  ['Code by email', '/twoFactor?codeSentViaEmail=true', { secondFactor: { ...secondFactor, sendAgainAfter: 0 } }],
  ['Set up an app', '/twoFactorRegistration', { secondFactor, registration }],
  ['Not found', '/nowhere'],
  [
    'Signed in',
    '/portal.html',
    { serverPage: { name: 'signedIn', username: 'ada', email: 'ada@acme.example', customers: ['Acme'] } },
  ],
  [
    'Recovery codes',
    '/two-factor-authentication/recovery-codes',
    { serverPage: { name: 'recoveryCodes', codes: Array(8).fill(code), left: 8, destination: '/' } },
  ],
  ['Signing out', '/logout', { serverPage: { name: 'signOutConfirm', query: {}, account: null } }],
  ['Unavailable', '/login', { serverPage: { name: 'problem', status: 503, retryAfterSeconds: 5 } }],
];

/** All screens and emails in a brand. Needs neither the database nor the network. */
export function brandPreviews(config: Config, brand: Brand, built: BuiltPages, language: Language): Preview[] {
  const { render } = built.ofBrand(brand);
  const pages = screens.map(([caption, path, more]): Preview => {
    const page: Page = {
      language,
      url: config.basePath + path,
      branding: brand.branding,
      rules: config.destinationRules,
      passwordPolicy: config.passwordPolicy,
      typedUsername: '',
      reference: null,
      serverPage: null,
      ...more,
    };
    return { caption, kind: 'screen', html: render(page) };
  });
  const mails = mailKinds.map((kind): Preview => {
    const { subject, html } = composeMail(mailOf(kind, language), { ...config, brand });
    return { caption: subject, kind: 'mail', html };
  });
  return [...pages, ...mails];
}

const tokenOf: Partial<Record<Mail['kind'], string>> = { resetLink: hash, invitation: hash, signInCode: '402716' };

function mailOf(kind: Mail['kind'], language: Language): Mail {
  return {
    id: 'preview',
    kind,
    recipient: 'ada@acme.example',
    language,
    queuedAt: new Date(0),
    details: {
      username: 'ada.lovelace',
      at: '2026-03-03T14:05:09Z',
      address: '203.0.113.42',
      browser: 'Firefox, Windows',
    },
    token: tokenOf[kind] ?? null,
  };
}
