import { describe, expect, it } from 'vitest';
import { type Language, languages } from '#contract/languages.ts';
import type { OpenSecondFactor, PageScreen } from '#contract/page.ts';
import { problemStatuses } from '#contract/page.ts';
import { documentForTest as render } from '#test/support/page-for-test.ts';
import { allTexts } from './all-texts.ts';

const screens: [string, string | null][] = [
  ['/portal/', '/portal/performlogin'],
  ['/portal/login', '/portal/performlogin'],
  ['/portal/singleSignOn', '/portal/authenticate/performSsoLogin'],
  ['/portal/forgotten', '/portal/password/forgotten'],
  ['/portal/emailInfo', null],
  ['/portal/forgottenChange?hash=x', '/portal/password/change'],
  ['/portal/forgottenChangedInfo', null],
  ['/portal/forgottenChangeFailedInfo?3', null],
  ['/portal/twoFactor', '/portal/two-factor-authentication/verify'],
  ['/portal/twoFactor?codeSentViaEmail=true', '/portal/two-factor-authentication/verify'],
  ['/portal/twoFactorRegistration', '/portal/two-factor-authentication/verify'],
  ['/portal/twoFactorRegistration?codeSentViaEmail=true', '/portal/two-factor-authentication/verify'],
  ['/portal/loginfail/default', '/portal/performlogin'],
  ['/portal/loginfail/ip?ipaddress=1.2.3.4', null],
  ['/portal/loginfail/oidc', null],
  ['/portal/loginfail/saml', null],
  ['/portal/nowhere', null],
];

/** A half-signed-in session with every permission. */
const secondFactor: OpenSecondFactor = { account: 'ada', mayRemember: true, mayRecover: true, sendAgainAfter: 30 };
const verify = '/portal/two-factor-authentication/verify';
const send = '/portal/two-factor-authentication/send';

/** The second-factor screens as the server renders them, with the targets of their forms. */
const secondFactorScreens: [string, string[], Partial<OpenSecondFactor>][] = [
  ['/portal/twoFactor', [verify], {}],
  ['/portal/twoFactor?recovery=true', [verify], {}],
  ['/portal/twoFactor?recovery=true&notice=codeWrong', [verify], {}],
  ['/portal/twoFactor?notice=codeMalformed&remember=true', [verify], {}],
  ['/portal/twoFactor?codeSentViaEmail=true', [verify, send], {}],
  ['/portal/twoFactor?codeSentViaEmail=true&notice=codeSent', [verify, send], {}],
  ['/portal/twoFactor?codeSentViaEmail=true&notice=codeNotSent', [verify, send], {}],
  ['/portal/twoFactor?codeSentViaEmail=true', [verify, send], { isCodeNotSent: true }],
  ['/portal/twoFactor?codeSentViaEmail=true', [verify], { sendAgainAfter: null }],
  ['/portal/twoFactorRegistration', [verify], {}],
  ['/portal/twoFactorRegistration?codeSentViaEmail=true', [verify, send], {}],
  ['/portal/twoFactorRegistration?codeSentViaEmail=true', [verify, send], { isCodeNotSent: true }],
];

const tenCodes = Array.from({ length: 10 }, (_, index) => `7K2M-Q4XD-9FH${index}`);

const anna = { username: 'anna', email: 'anna@x.example', name: 'Anna Ng', customers: ['North', 'South'], groups: [] };

const serverPages: PageScreen[] = [
  { name: 'recoveryCodes', codes: tenCodes, left: 10, destination: '/portal/portal.html' },
  { name: 'recoveryCodes', codes: null, left: 7, destination: '/portal/portal.html' },
  { name: 'recoveryCodes', codes: null, left: 0, destination: 'https://hub.example/a' },
  { name: 'signedIn', person: { ...anna, groups: ['north:hr'] } },
  { name: 'signedIn', person: { ...anna, name: null, customers: [] } },
  { name: 'signOutConfirm', query: {}, account: 'anna' },
  { name: 'registerElsewhere', why: 'tooOld', comesBackTo: '/portal/twoFactorRegistration', goesOnTo: '/portal/x' },
  { name: 'registerElsewhere', why: 'provider', comesBackTo: '/portal/twoFactorRegistration', goesOnTo: null },
  { name: 'registerElsewhere', why: 'provider', comesBackTo: null, goesOnTo: '/portal/portal.html' },
  { name: 'registerElsewhere', why: 'network', comesBackTo: null, goesOnTo: '/portal/portal.html' },
  { name: 'registerElsewhere', why: 'passkey', comesBackTo: null, goesOnTo: null },
  { name: 'notForYou', username: 'ada', comesBackTo: '/reports?x=1' },
  ...problemStatuses.map((status) => ({ name: 'problem' as const, status, retryAfterSeconds: 90 })),
];

function expectSound(html: string, language: Language, name: string) {
  expect(html, name).toMatch(new RegExp(`^<!doctype html>\n<html lang="${language}">`));
  const heading = /<h1[^>]*>(?:<span class="sr">[^<]*<\/span>)?([^<]+)<\/h1>/.exec(html)?.[1];
  expect(heading, name).toBeTruthy();
  expect(html.match(/<h1/g), name).toHaveLength(1);
  const title = /<title>(.+) · Vestibule<\/title>/.exec(html)?.[1];
  expect(title?.replaceAll('&#39;', '&#x27;'), name).toBe(heading);
  const description = allTexts[language].description.replace('{name}', 'Vestibule');
  expect(html.split(`\n<meta name="description" content="${description}">\n`), name).toHaveLength(2);
  expect(html, name).toMatch(/\n<link rel="icon" href="data:image\/svg\+xml,[!#$%\w&'()*+,./:;=?@~-]+">\n/);
  expect(html, name).not.toMatch(/ style=| on[a-z]+="|javascript:/i);
  expect(html, name).not.toContain('undefined');
  expect(html, name).not.toMatch(/<button[^>]* disabled/);
  expect(html, name).toContain('<style>body{}</style>');
  for (const form of html.match(/<form[^>]*>/g) ?? []) expect(form, name).toMatch(/method="(post|get)"/);
}

/** The targets of the forms that post. */
const postsOf = (html: string) =>
  [...html.matchAll(/<form[^>]*? action="([^"]+)" method="post"/g)].map((match) => match[1]);

describe.each(languages)('in %s every document is sound', (language) => {
  it('of a screen, whose form posts to its call', () => {
    for (const [url, action] of screens) {
      const html = render(url, { language });
      expectSound(html, language, url);
      if (action) expect(postsOf(html), url).toContain(action);
      else expect(postsOf(html), url).toEqual([]);
    }
  });

  it('of a second factor', () => {
    for (const [url, actions, more] of secondFactorScreens) {
      const html = render(url, { language, screen: { secondFactor: { ...secondFactor, ...more } } });
      expectSound(html, language, url);
      expect(postsOf(html), url).toEqual(actions);
    }
  });

  it('of a page of the server', () => {
    for (const serverPage of serverPages)
      expectSound(render('/portal/x', { language, screen: serverPage }), language, JSON.stringify(serverPage));
  });
});

const half = (query: string, more: Partial<OpenSecondFactor> = {}, screen = 'twoFactor') =>
  render(`/portal/${screen}${query}`, { screen: { secondFactor: { ...secondFactor, ...more } } });
const remember = '<input type="checkbox" name="remember"/>';
const there = '/portal/twoFactor?lang=en&amp;redirectURL=%2Fa%3Fb';

/** What a document has, and what it has not. */
const documents: Record<string, [html: string, has: (string | RegExp)[], not?: (string | RegExp)[]]> = {
  'the sign-in form sends the default destination, to single sign-on too': [
    render('/portal/login'),
    [
      'name="redirectURL" value="/portal"',
      /<button[^>]* form="sign-in"[^>]* value="\/portal" name="redirectURLSSO" formAction="\/portal\/authenticate\/checkSsoLogin"/,
    ],
  ],
  'OR-01 it sends the default if that of the address is not acceptable': [
    render('/portal/login?destination=https://evil.example/'),
    ['name="redirectURL" value="/portal"'],
  ],
  'an acceptable destination of the address goes along': [
    render('/portal/login?destination=%2Fa%3Fb%3D1'),
    ['name="redirectURL" value="/a?b=1"', 'value="/a?b=1"', 'href="/portal/forgotten?destination=%2Fa%3Fb%3D1"'],
  ],
  'the language of the address stays in links and forms': [
    render('/portal/login?lang=de', { language: 'de' }),
    ['action="/portal/performlogin?lang=de"', 'href="/portal/forgotten?lang=de"'],
  ],
  'the language changes without losing the query, and without copying a reset secret': [
    render('/portal/login?hash=abc&x=1'),
    ['<input type="hidden" name="x" value="1"/>'],
    ['name="hash"'],
  ],
  'the answer to a posted form shows the result at once and keeps what was typed': [
    render('/portal/forgotten?notice=unavailable', { isAnswer: true, typedUsername: 'ada@acme.test' }),
    [
      /role="alert" tabindex="-1".*This isn’t available right now/i,
      /id="email"[^>]* value="ada@acme.test"/,
      '<form class="language" action="/portal/forgotten" method="get"><input type="hidden" name="notice"',
    ],
  ],
  'a new password is sent with the hash of its link, before the one kept for this browser': [
    render('/portal/forgottenChange?hash=a&reason=1', { screen: { resetHash: 'b' } }),
    ['name="hash" value="a"', 'That password is too easy to guess. Choose a stronger one.'],
    [/<noscript>.*Open the link from our email/],
  ],
  'without a link it is said where to request one': [
    render('/portal/forgottenChange'),
    [/<noscript>.*Open the link from our email.*<a href="\/portal\/forgotten">Send a new link<.*<\/noscript>/],
  ],
  'the second factor is one plain field and keeps the parameters of the address': [
    render('/portal/twoFactor?redirectURL=%2Fa&codeSentViaEmail=true'),
    ['name="redirectURL" value="/a"', 'name="codeSentViaEmail" value="true"', 'href="/portal/logout?destination=%2Fa"'],
    [/name="code-\d"/, 'name="remember"', 'recovery'],
  ],
  'the key is shown if the server sends it, also where a script is allowed and does not run': [
    render('/portal/twoFactorRegistration', { screen: { registration: { url: 'data:,a', totpSecret: 'ABCDEFGH' } } }),
    [/<img src="data:,a"(?:(?!<noscript>).)*>ABCD EFGH/],
    [/<p>[^<]*JavaScript/],
  ],
  'a device may be remembered, never by default': [
    half(''),
    [`${remember}Don’t ask for a code on this device for 30 days`],
  ],
  'unless it may not': [half('', { mayRemember: false, mayRecover: false }), [], ['name="remember"', 'recovery=true']],
  'a recovery code may be used instead': [
    half('?redirectURL=%2Fa%3Fb&lang=en'),
    [`<a href="${there}&amp;recovery=true">Use a recovery code</a>`],
  ],
  'and leads back to the app by the same address': [
    half('?redirectURL=%2Fa%3Fb&lang=en&recovery=true'),
    [`<a href="${there}">Use the code from your app</a>`],
  ],
  'who cancels a registration signs out': [
    half('?redirectURL=%2Fa%3Fb', {}, 'twoFactorRegistration'),
    ['<a href="/portal/logout?destination=%2Fa%3Fb">Cancel</a>', remember],
  ],
  'unless the sign-in is complete without it': [
    half('?redirectURL=%2Fa%3Fb', { goesOnTo: '/a?b' }, 'twoFactorRegistration'),
    ['<a href="/a?b">Cancel</a>'],
    ['/portal/logout'],
  ],
};

it.each(Object.entries(documents))('%s', (_what, [html, has, not = []]) => {
  for (const part of has) expect(html).toMatch(part);
  for (const part of not) expect(html).not.toMatch(part);
});

it('IP-16 an address is shown only if it is valid', () => {
  expect(render('/portal/loginfail/ip?ipaddress=1.2.3.4')).toContain('<code>1.2.3.4</code>');
  for (const text of ['%3Cscript%3E', '1'.repeat(500), 'x', '', '1.2.3.4%E2%80%AE'])
    expect(render(`/portal/loginfail/ip?ipaddress=${text}`)).toContain('<code>unknown</code>');
});

it('IN-04 a long address is truncated', () => {
  const html = render(`/portal/${'x'.repeat(8000)}`);
  expect(/<code>(.*)<\/code>/.exec(html)?.[1]?.replaceAll('<wbr/>', '').length).toBeLessThan(260);
});
