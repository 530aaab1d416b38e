import { describe, expect, it } from 'vitest';
import { type Language, languages } from '#contract/languages.ts';
import type { ServerPage } from '#contract/page.ts';
import { problemStatuses } from '#contract/page.ts';
import { pageForTest as page, documentForTest as render } from './page-for-test.ts';
import { styleText } from './render.tsx';

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
  ['/portal/loginfail/default', null],
  ['/portal/loginfail/ip?ipaddress=1.2.3.4', null],
  ['/portal/loginfail/oidc', null],
  ['/portal/loginfail/saml', null],
  ['/portal/nowhere', null],
];

const serverPages: ServerPage[] = [
  { name: 'signedIn', username: 'anna', email: 'anna@x.example', customers: ['North', 'South'] },
  { name: 'signOutConfirm' },
  ...problemStatuses.map((status) => ({ name: 'problem' as const, status, retryAfterSeconds: 90 })),
];

function expectSound(html: string, language: Language) {
  expect(html).toMatch(new RegExp(`^<!doctype html>\n<html lang="${language}">`));
  const heading = /<h1[^>]*>(?:<span class="sr">[^<]*<\/span>)?([^<]+)<\/h1>/.exec(html)?.[1];
  expect(heading).toBeTruthy();
  expect(html.match(/<h1/g)).toHaveLength(1);
  const title = /<title>(.+) · Vestibule<\/title>/.exec(html)?.[1];
  expect(title?.replaceAll('&#39;', '&#x27;')).toBe(heading);
  expect(html).not.toMatch(/ style=| on[a-z]+="|javascript:/i);
  expect(html).not.toContain('undefined');
  expect(html).not.toMatch(/<button[^>]* disabled/);
  expect(html).toContain(`<link rel="modulepreload" href="/portal/assets/${language}.js">`);
  expect(html).toContain('<style>body{}</style>');
  for (const form of html.match(/<form[^>]*>/g) ?? []) expect(form).toMatch(/method="(post|get)"/);
}

describe.each(languages)('in %s', (language) => {
  it.each(screens)('%s', (url, action) => {
    const html = render(url, { language });
    expectSound(html, language);
    if (action) expect(html).toContain(`<form action="${action}" method="post">`);
    else expect(html).not.toContain('method="post"');
  });

  it.each(serverPages)('$name $status', (serverPage) =>
    expectSound(render('/portal/x', { language, serverPage }), language),
  );
});

describe('the sign-in form', () => {
  it('sends the default destination', () => {
    expect(render('/portal/login')).toContain('name="redirectURL" value="/portal"');
    expect(render('/portal/login')).toContain('name="redirectURLSSO" value="/portal"');
  });

  it('sends the destination of the address when it is acceptable', () => {
    const html = render('/portal/login?destination=%2Fportal%2Fportal.html%3Fa%3D1');
    expect(html).toContain('name="redirectURL" value="/portal/portal.html?a=1"');
    expect(html).toContain('name="redirectURLSSO" value="/portal/portal.html?a=1"');
    expect(html).toContain('href="/portal/forgotten?destination=%2Fportal%2Fportal.html%3Fa%3D1"');
  });

  it('OR-01 sends the default when it is not', () =>
    expect(render('/portal/login?destination=https://evil.example/')).toContain('name="redirectURL" value="/portal"'));

  it('fills in the typed name, or better the one of the address', () => {
    expect(render('/portal/login', { typedUsername: 'anna' })).toMatch(/id="username"[^>]* value="anna"/);
    expect(render('/portal/login?login=bob', { typedUsername: 'anna' })).toMatch(/id="username"[^>]* value="bob"/);
  });

  it('does not link its own logo', () => {
    expect(render('/portal/login')).toContain('<span class="logo">');
    expect(render('/portal/forgotten')).toMatch(/<a href="\/portal\/login" class="logo"/);
  });
});

describe('the language', () => {
  it('of the address stays in links and forms', () => {
    const html = render('/portal/login?lang=de', { language: 'de' });
    expect(html).toContain('action="/portal/performlogin?lang=de"');
    expect(html).toContain('href="/portal/forgotten?lang=de"');
  });

  it('changes without losing the rest of the query, and without repeating a reset secret elsewhere', () => {
    expect(render('/portal/login?destination=%2Fa&x=1')).toContain('<input type="hidden" name="x" value="1"/>');
    expect(render('/portal/forgottenChange?hash=abc')).toContain(
      '<input type="hidden" name="hash" value="abc"/><label',
    );
    expect(render('/portal/login?hash=abc')).not.toContain('name="hash"');
  });
});

describe('the answer to a posted form', () => {
  const answer = (url: string, more = {}) => render(url, { isAnswer: true, ...more });

  it('says what happened at once, and keeps what was typed', () => {
    const html = answer('/portal/forgotten?notice=unavailable', { typedUsername: 'ada@acme.test' });
    expect(html).toMatch(/role="alert" tabindex="-1".*This isn’t available right now/i);
    expect(html).toMatch(/id="email"[^>]* value="ada@acme.test"/);
    expect(render('/portal/forgotten', { typedUsername: 'ada' })).toMatch(/id="email"[^>]* value=""/);
  });

  it('keeps the link of a new password', () => {
    const html = answer('/portal/forgottenChange?notice=tooManyAttempts', { resetHash: 's3cret' });
    expect(html).toContain('name="hash" value="s3cret"');
    expect(html).toContain('Too many tries');
  });

  it('changes the language at the address of the form, not at that of the call', () => {
    expect(answer('/portal/forgotten?notice=unavailable')).toContain(
      '<form class="language" action="/portal/forgotten" method="get"><input type="hidden" name="notice"',
    );
    expect(render('/portal/forgotten')).toContain('<form class="language" method="get"><label');
  });
});

describe('the form for a new password', () => {
  it('sends the hash of its link, or the one that waits in this browser', () => {
    expect(render('/portal/forgottenChange?hash=a', { resetHash: 'b' })).toContain('name="hash" value="a"');
    expect(render('/portal/forgottenChange', { resetHash: 'b' })).toContain('name="hash" value="b"');
    expect(render('/portal/forgottenChange')).toContain('name="hash" value=""');
  });

  it('tells a password manager whose link it is', () => {
    const more = { typedUsername: 'ada' };
    const hidden = /<input class="sr" type="text" autoComplete="username" [^>]*name="username" value="ada"/;
    expect(render('/portal/forgottenChange?hash=a', more)).toMatch(hidden);
    expect(render('/portal/forgottenChange', { ...more, resetHash: 'b' })).toMatch(hidden);
    expect(render('/portal/forgottenChange', more)).not.toMatch(hidden);
  });

  it('says without script that a link is missing, and where to ask for one', () => {
    const said =
      /<noscript>.*Open the link from our e‑mail.*<a href="\/portal\/forgotten">Send a new link<.*<\/noscript>/;
    expect(render('/portal/forgottenChange')).toMatch(said);
    expect(render('/portal/forgottenChange?hash=a')).not.toMatch(said);
    expect(render('/portal/forgottenChange', { resetHash: 'b' })).not.toMatch(said);
  });

  it('says why it is shown again', () => {
    const again = (reason: number) => render(`/portal/forgottenChange?hash=a&reason=${reason}`);
    expect(again(1)).toContain('That password is too easy to guess. Choose a stronger one.');
    expect(again(2)).toMatch(/Ask for a new link and try again\.<!-- --> <a href="\/portal\/forgotten">/);
    expect(again(3)).not.toContain('alert bad');
  });
});

it('who waits in vain for the e-mail can ask again', () =>
  expect(render('/portal/emailInfo?lang=de', { language: 'de' })).toContain(
    '<a href="/portal/forgotten?lang=de">Erneut senden oder Adresse ändern</a>',
  ));

describe('the second factor without script', () => {
  it('is one plain field, and keeps what the address says', () => {
    const html = render('/portal/twoFactor?redirectURL=%2Fa&codeSentViaEmail=true');
    expect(html).toMatch(/<input[^>]* name="code"/);
    expect(html).toContain('name="redirectURL" value="/a"');
    expect(html).toContain('name="codeSentViaEmail" value="true"');
    expect(html).toContain('href="/portal/logout?destination=%2Fa"');
  });

  it('says that a code was wrong', () =>
    expect(render('/portal/twoFactor?notice=codeWrong')).toContain('id="code-error" role="alert"'));

  it('shows the key where the server gives it, outside of what the script reads', () => {
    const registration = { url: 'data:image/png;base64,AAAA', totpSecret: 'ABCDEFGH' };
    const html = render('/portal/twoFactorRegistration', { registration });
    expect(html).toMatch(/<noscript>.*<img src="data:image\/png;base64,AAAA".*<span>ABCD.*<\/noscript>/);
    expect(html.split('id="page"')[1]).not.toContain('ABCDEFGH');
  });
});

describe('results', () => {
  it('IP-16 an address is shown only when it is one', () => {
    expect(render('/portal/loginfail/ip?ipaddress=1.2.3.4')).toContain('<code>1.2.3.4</code>');
    for (const text of ['%3Cscript%3E', '1'.repeat(500), 'x', '', '1.2.3.4%E2%80%AE']) {
      expect(render(`/portal/loginfail/ip?ipaddress=${text}`)).toContain('<code>unknown</code>');
    }
    expect(render('/portal/loginfail/ip')).toContain('<code>unknown</code>');
  });

  it('a reference is shown for support', () =>
    expect(render('/portal/loginfail/default', { reference: 'K7Q2-M4XD' })).toContain('<code>K7Q2-M4XD</code>'));

  it('a refusal of too many tries tells how long to wait', () => {
    const serverPage = { name: 'problem', status: 429, retryAfterSeconds: 300 } as const;
    expect(render('/portal/performlogin', { serverPage })).toContain('Try again in 5 minutes.');
    expect(render('/portal/performlogin', { serverPage, language: 'pl' })).toContain('Spróbuj ponownie za 5 minut.');
  });
});

describe('hostile text is text', () => {
  const evil = `"'><script>alert(1)</script><!--\u2028</title>`;
  it.each([
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
      () => render('/x', { serverPage: { name: 'signedIn', username: evil, email: evil, customers: [evil] } }),
    ],
    ['a reference', () => render('/portal/loginfail/default', { reference: evil })],
  ])('%s', (_name, make) => {
    const html = make();
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain('<!--\u2028');
    expect(html).not.toContain('\u2028</title');
    expect(html.match(/<\/script>/g)).toHaveLength(2);
    expect(html.match(/<\/title>/g)).toHaveLength(1);
    const json = /<script type="application\/json" id="page">(.*)<\/script>\n/.exec(html)?.[1] ?? '';
    expect(json).not.toMatch(/[<\u2028\u2029]/);
    expect(() => JSON.parse(json)).not.toThrow();
  });

  it('IN-04 a long address is cut', () => {
    const html = render(`/portal/${'x'.repeat(8000)}`);
    expect(/<code>(.*)<\/code>/.exec(html)?.[1]?.replaceAll('<wbr/>', '').length).toBeLessThan(260);
  });
});

describe('the style', () => {
  it('takes the operator’s colour', () => {
    expect(styleText('oklch(0.5 0.1 200 / 1)')).toContain(':root{--brand:oklch(0.5 0.1 200 / 1)}');
    expect(styleText(null)).not.toContain('--brand:oklch(0.5');
  });
  it.each(['red}body{display:none', '</style><script>', 'red;--x:1', 'url("x")', ''])('refuses %j', (colour) =>
    expect(() => styleText(colour)).toThrow('Not a CSS colour'),
  );
});
