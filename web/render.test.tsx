import { describe, expect, it } from 'vitest';
import { type Language, languages } from '#contract/languages.ts';
import type { OpenSecondFactor, PageScreen } from '#contract/page.ts';
import { problemStatuses } from '#contract/page.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import italian from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };
import { pageForTest as page, documentForTest as render } from './page-for-test.ts';
import { styleText } from './render.tsx';

const textsOf = { en, de, es, pl, nl, it: italian };

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
  ['/portal/twoFactor?recovery=true&notice=codeMalformed', [verify], {}],
  ['/portal/twoFactor?notice=codeMalformed&remember=true', [verify], {}],
  ['/portal/twoFactor?recovery=true', [verify], { mayRecover: false }],
  ['/portal/twoFactor?codeSentViaEmail=true', [verify, send], {}],
  ['/portal/twoFactor?codeSentViaEmail=true&notice=codeSent', [verify, send], {}],
  ['/portal/twoFactor?codeSentViaEmail=true&notice=codeTooSoon', [verify, send], {}],
  ['/portal/twoFactor?codeSentViaEmail=true&notice=codeNotSent', [verify, send], {}],
  ['/portal/twoFactor?codeSentViaEmail=true', [verify, send], { isCodeNotSent: true }],
  ['/portal/twoFactor?codeSentViaEmail=true', [verify], { sendAgainAfter: null }],
  ['/portal/twoFactorRegistration', [verify], {}],
  ['/portal/twoFactorRegistration?codeSentViaEmail=true', [verify, send], {}],
  ['/portal/twoFactorRegistration?codeSentViaEmail=true', [verify, send], { isCodeNotSent: true }],
];

const tenCodes = Array.from({ length: 10 }, (_, index) => `7K2M-Q4XD-9FH${index}`);

const serverPages: PageScreen[] = [
  { name: 'recoveryCodes', codes: tenCodes, left: 10, destination: '/portal/portal.html' },
  { name: 'recoveryCodes', codes: null, left: 7, destination: '/portal/portal.html' },
  { name: 'recoveryCodes', codes: null, left: 0, destination: 'https://hub.example/a' },
  { name: 'signedIn', username: 'anna', email: 'anna@x.example', customers: ['North', 'South'] },
  { name: 'signOutConfirm', query: {}, account: 'anna' },
  { name: 'signInOnceMore', comesBackTo: '/portal/twoFactorRegistration', goesOnTo: '/portal/portal.html' },
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
  const description = textsOf[language].description.replace('{name}', 'Vestibule');
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
  [...html.matchAll(/<form(?: autoComplete="off")? action="([^"]+)" method="post"/g)].map((match) => match[1]);

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

describe('the second script', () => {
  const preload = '<link rel="modulepreload" href="/portal/assets/later-screen.js">';
  const leaving: PageScreen = { name: 'leaving', isSignOut: false, url: '/x', provider: 'Acme' };

  it('the sign-in form and the way to a provider need none', () => {
    for (const url of ['/portal/', '/portal/login', '/portal/login?notice=signInExpired'])
      expect(render(url), url).not.toContain('later-screen');
    expect(render('/portal/x', { screen: leaving })).not.toContain('later-screen');
  });

  it('every other page loads it at once', () => {
    for (const [url] of screens.slice(2)) expect(render(url), url).toContain(preload);
    for (const serverPage of serverPages)
      expect(render('/portal/x', { screen: serverPage }), serverPage.name).toContain(preload);
  });
});

describe('the sign-in form', () => {
  it('sends the default destination', () => {
    expect(render('/portal/login')).toContain('name="redirectURL" value="/portal"');
    expect(render('/portal/login')).toContain('name="redirectURLSSO" value="/portal"');
  });

  it('sends the destination of the address if it is acceptable', () => {
    const html = render('/portal/login?destination=%2Fportal%2Fportal.html%3Fa%3D1');
    expect(html).toContain('name="redirectURL" value="/portal/portal.html?a=1"');
    expect(html).toContain('name="redirectURLSSO" value="/portal/portal.html?a=1"');
    expect(html).toContain('href="/portal/forgotten?destination=%2Fportal%2Fportal.html%3Fa%3D1"');
  });

  it('OR-01 sends the default if it is not', () =>
    expect(render('/portal/login?destination=https://evil.example/')).toContain('name="redirectURL" value="/portal"'));
});

describe('the language', () => {
  it('of the address stays in links and forms', () => {
    const html = render('/portal/login?lang=de', { language: 'de' });
    expect(html).toContain('action="/portal/performlogin?lang=de"');
    expect(html).toContain('href="/portal/forgotten?lang=de"');
  });

  it('changes without losing the rest of the query, and without copying a reset secret elsewhere', () => {
    expect(render('/portal/login?destination=%2Fa&x=1')).toContain('<input type="hidden" name="x" value="1"/>');
    expect(render('/portal/forgottenChange?hash=abc')).toContain(
      '<input type="hidden" name="hash" value="abc"/><label',
    );
    expect(render('/portal/login?hash=abc')).not.toContain('name="hash"');
  });
});

describe('the answer to a posted form', () => {
  const answer = (url: string, more = {}) => render(url, { isAnswer: true, ...more });

  it('shows the result at once and keeps what was typed', () => {
    const html = answer('/portal/forgotten?notice=unavailable', { typedUsername: 'ada@acme.test' });
    expect(html).toMatch(/role="alert" tabindex="-1".*This isn’t available right now/i);
    expect(html).toMatch(/id="email"[^>]* value="ada@acme.test"/);
    expect(render('/portal/forgotten', { typedUsername: 'ada' })).toMatch(/id="email"[^>]* value=""/);
  });

  it('keeps the link of a new password', () => {
    const html = answer('/portal/forgottenChange?notice=tooManyAttempts', { screen: { resetHash: 's3cret' } });
    expect(html).toContain('name="hash" value="s3cret"');
    expect(html).toContain('Too many attempts');
  });

  it("changes the language at the form's address, not the call's", () => {
    expect(answer('/portal/forgotten?notice=unavailable')).toContain(
      '<form class="language" action="/portal/forgotten" method="get"><input type="hidden" name="notice"',
    );
    expect(render('/portal/forgotten')).toContain('<form class="language" method="get"><label');
  });
});

describe('the new-password form', () => {
  it('sends the hash of its link, or the one kept for this browser', () => {
    expect(render('/portal/forgottenChange?hash=a', { screen: { resetHash: 'b' } })).toContain('name="hash" value="a"');
    expect(render('/portal/forgottenChange', { screen: { resetHash: 'b' } })).toContain('name="hash" value="b"');
    expect(render('/portal/forgottenChange')).toContain('name="hash" value=""');
  });

  it('tells a password manager which account the link belongs to', () => {
    const more = { typedUsername: 'ada' };
    const hidden = /<input class="sr" type="text" autoComplete="username" [^>]*value="ada"/;
    expect(render('/portal/forgottenChange?hash=a', more)).toMatch(hidden);
    expect(render('/portal/forgottenChange', { ...more, screen: { resetHash: 'b' } })).toMatch(hidden);
    expect(render('/portal/forgottenChange', more)).not.toMatch(hidden);
    const form = /<form.*?<\/form>/.exec(render('/portal/forgottenChange?hash=a', more))?.[0] ?? '';
    expect([...form.matchAll(/ name="([^"]*)"/g)].map(([, name]) => name)).toEqual(['hash', 'password', 'repeat']);
  });

  it('says without JavaScript that a link is missing, and where to request one', () => {
    const said =
      /<noscript>.*Open the link from our email.*<a href="\/portal\/forgotten">Send a new link<.*<\/noscript>/;
    expect(render('/portal/forgottenChange')).toMatch(said);
    expect(render('/portal/forgottenChange?hash=a')).not.toMatch(said);
    expect(render('/portal/forgottenChange', { screen: { resetHash: 'b' } })).not.toMatch(said);
  });

  it('says why it is shown again', () => {
    const again = (reason: number) => render(`/portal/forgottenChange?hash=a&reason=${reason}`);
    expect(again(1)).toContain('That password is too easy to guess. Choose a stronger one.');
    expect(again(2)).toMatch(/Ask for a new link, or contact support\.<!-- --> <a href="\/portal\/forgotten">/);
    expect(again(3)).not.toContain('alert bad');
  });
});

describe('the second factor without JavaScript', () => {
  it('is one plain field and keeps the parameters of the address', () => {
    const html = render('/portal/twoFactor?redirectURL=%2Fa&codeSentViaEmail=true');
    expect(html.match(/<input[^>]* name="code(?:-\d)?"/g)).toHaveLength(1);
    expect(html).toContain('name="redirectURL" value="/a"');
    expect(html).toContain('name="codeSentViaEmail" value="true"');
    expect(html).toContain('href="/portal/logout?destination=%2Fa"');
  });

  it('shows the key if the server sends it, also where a script is allowed and does not run', () => {
    const registration = { url: 'data:image/png;base64,AAAA', totpSecret: 'ABCDEFGH' };
    const html = render('/portal/twoFactorRegistration', { screen: { registration } });
    const shown = html.replaceAll(/<noscript>.*?<\/noscript>/g, '');
    expect(shown).toMatch(/<img src="data:image\/png;base64,AAAA".*<span>ABCD.*id="page"/s);
    expect(html).not.toMatch(/<p>[^<]*JavaScript/);
    expect(render('/portal/twoFactorRegistration')).toMatch(/<noscript><p>[^<]*JavaScript/);
  });
});

describe('a half-signed-in session', () => {
  const show = (query: string, more: Partial<OpenSecondFactor> = {}, screen = 'twoFactor') =>
    render(`/portal/${screen}${query}`, { screen: { secondFactor: { ...secondFactor, ...more } } });
  const box = '<input type="checkbox" name="remember"/>';

  it('may offer to remember this device, where allowed, never by default', () => {
    for (const screen of ['twoFactor', 'twoFactorRegistration']) {
      expect(show('', {}, screen)).toContain(`${box}Don’t ask for a code on this device for 30 days`);
      expect(show('', { mayRemember: false }, screen)).not.toContain('name="remember"');
      expect(render(`/portal/${screen}`)).not.toContain('name="remember"');
    }
  });

  it('may use a recovery code if it has any, and returns to the app by the same address', () => {
    const way = (href: string, text: string) => `<a href="${href}">${text}</a>`;
    const there = way('/portal/twoFactor?lang=en&amp;redirectURL=%2Fa%3Fb&amp;recovery=true', 'Use a recovery code');
    const back = way('/portal/twoFactor?lang=en&amp;redirectURL=%2Fa%3Fb', 'Use the code from your app');
    expect(show('?redirectURL=%2Fa%3Fb&lang=en')).toContain(there);
    expect(show('?redirectURL=%2Fa%3Fb&lang=en&recovery=true')).toContain(back);
    expect(show('?codeSentViaEmail=true', { mayRecover: false })).not.toContain('recovery');
    expect(show('', { mayRecover: false })).not.toContain('recovery=true');
    expect(render('/portal/twoFactor')).not.toContain('recovery');
  });

  it('offers a signed-in user a link to the destination, without signing out', () => {
    const html = show('?redirectURL=%2Fa%3Fb', { goesOnTo: '/a?b' }, 'twoFactorRegistration');
    expect(html).toContain('<a href="/a?b">Cancel</a>');
    expect(html).not.toContain('/portal/logout');
    expect(show('?redirectURL=%2Fa%3Fb', {}, 'twoFactorRegistration')).toContain(
      '<a href="/portal/logout?destination=%2Fa%3Fb">Cancel</a>',
    );
  });

  it('opens its authenticator app by a link', () => {
    const registration = { url: 'data:image/png;base64,AAAA', totpSecret: 'ABCDEFGH' };
    const link = 'href="otpauth://totp/Vestibule:a%20b?secret=ABCDEFGH&amp;issuer=Vestibule"';
    const more = { registration, secondFactor: { ...secondFactor, account: 'a:b' } };
    expect(render('/portal/twoFactorRegistration', { screen: more })).toContain(link);
    expect(render('/portal/twoFactorRegistration', { screen: { registration } })).not.toContain('otpauth:');
  });
});

describe('recovery codes', () => {
  const show = (more: object, page = {}) => {
    const serverPage = { name: 'recoveryCodes', codes: tenCodes, left: 10, destination: '/a?b#c', ...more };
    return render('/portal/x', { screen: serverPage, ...page });
  };

  it('are ten that are never translated, and the way on is a link', () => {
    const html = show({});
    const list = /<ul class="codes" translate="no"[^>]*>(.*?)<\/ul>/.exec(html)?.[1] ?? '';
    expect([...list.matchAll(/<li>([^<]+)<\/li>/g)].map((match) => match[1])).toEqual(tenCodes);
    expect(html).toContain('<a href="/a?b#c" class="button">Continue</a>');
  });

  it('are not shown again, only counted', () => {
    const html = show({ codes: null, left: 7 });
    expect(html).toContain('can’t be shown again');
    expect(html).toContain('<code>7</code>');
    expect(html).not.toContain('class="codes"');
    expect(html).not.toContain('administrator');
    expect(html).toContain('>Continue</a>');
  });
});

describe('results', () => {
  it('IP-16 an address is shown only if it is valid', () => {
    expect(render('/portal/loginfail/ip?ipaddress=1.2.3.4')).toContain('<code>1.2.3.4</code>');
    for (const text of ['%3Cscript%3E', '1'.repeat(500), 'x', '', '1.2.3.4%E2%80%AE']) {
      expect(render(`/portal/loginfail/ip?ipaddress=${text}`)).toContain('<code>unknown</code>');
    }
    expect(render('/portal/loginfail/ip')).toContain('<code>unknown</code>');
  });
});

it('a refusal of too many attempts says how long to wait', () => {
  const screen = { name: 'problem', status: 429, retryAfterSeconds: 300 } as const;
  expect(render('/portal/performlogin', { screen })).toContain('Try again in 5\u00a0minutes.');
  expect(render('/portal/performlogin', { screen, language: 'pl' })).toContain('Spróbuj ponownie za 5\u00a0minut.');
});

describe('hostile text is rendered as text', () => {
  const evil = `"'><script>alert(1)</script><!--\u2028</title>`;
  const places: [string, () => string][] = [
    ['IN-02 a typed name', () => render('/portal/login', { typedUsername: evil })],
    ['IN-02 a name in the address', () => render(`/portal/login?login=${encodeURIComponent(evil)}`)],
    ['IN-04 an unknown path', () => render(`/portal/${evil}`)],
    ['IN-04 an unknown query', () => render(`/portal/x?a=${evil}`)],
    ['a destination', () => render(`/portal/login?destination=${encodeURIComponent(evil)}`)],
    ['a reset secret', () => render(`/portal/forgottenChange?hash=${encodeURIComponent(evil)}`)],
    ['a parameter of the language menu', () => render(`/portal/login?${encodeURIComponent(evil)}=x`)],
    ['IP-16 an address', () => render(`/portal/loginfail/ip?ipaddress=${encodeURIComponent(evil)}`)],
    ['a name of the hub', () => render('/portal/login', { branding: { ...page('').branding, name: evil } })],
    [
      'a customer',
      () => render('/x', { screen: { name: 'signedIn', username: evil, email: evil, customers: [evil] } }),
    ],
    [
      'an account of an authenticator app',
      () =>
        render('/portal/twoFactorRegistration', {
          screen: {
            registration: { url: evil, totpSecret: evil },
            secondFactor: { ...secondFactor, account: evil },
          },
        }),
    ],
    [
      'a recovery code',
      () =>
        render('/x', {
          screen: { name: 'recoveryCodes', codes: [evil], left: 1, destination: evil },
          typedUsername: evil,
        }),
    ],
    ['a reference', () => render('/portal/loginfail/default', { reference: evil })],
  ];

  it('IN-02 IN-04 IP-16 wherever it stands', () => {
    for (const [name, make] of places) {
      const html = make();
      expect(html, name).not.toContain('<script>alert');
      expect(html, name).not.toContain('<!--\u2028');
      expect(html, name).not.toContain('\u2028</title');
      expect(html.match(/<\/script>/g), name).toHaveLength(2);
      expect(html.match(/<\/title>/g), name).toHaveLength(1);
      const json = /<script type="application\/json" id="page">(.*)<\/script>\n/.exec(html)?.[1] ?? '';
      expect(json, name).not.toMatch(/[<\u2028\u2029]/);
      expect(() => JSON.parse(json), name).not.toThrow();
    }
  });

  it('IN-04 a long address is truncated', () => {
    const html = render(`/portal/${'x'.repeat(8000)}`);
    expect(/<code>(.*)<\/code>/.exec(html)?.[1]?.replaceAll('<wbr/>', '').length).toBeLessThan(260);
  });
});

describe('the style', () => {
  it('refuses what is no colour', () => {
    for (const text of ['red}body{display:none', '</style><script>', 'red;--x:1', 'url("x")', 'red', '#12345', ''])
      expect(() => styleText(text), text).toThrow('Not a colour as #rgb or #rrggbb');
  });
});
