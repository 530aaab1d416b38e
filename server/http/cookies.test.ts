import type { Response } from 'light-my-request';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { readConfig } from '#server/config/config.ts';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addSamlConnection, samlProvider } from '#test/support/saml-for-test.ts';
import { registrationUrl } from '#test/support/two-factor-for-test.ts';

/** A portal as in production, behind https. */
const portal = portalOfFile({ env: { PUBLIC_URL: 'https://portal.example' } });
beforeAll(async () => {
  await addAttackFixtures(portal);
  await addCustomer(portal, 'careful', { twoFactor: 'email' });
  await addUser(portal, { username: 'frida', customers: ['careful'] });
  await addCustomer(portal, 'careful-with-app', { twoFactor: 'app' });
  await addUser(portal, { username: 'gina', customers: ['careful-with-app'] });
  const provider = await samlProvider('idp.careful.test', portal.deps.now());
  await addSamlConnection(portal, provider, { customerKey: 'careful', domains: ['careful.test'] });
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
});

const isSigned = async (headers: Record<string, string>) =>
  (await portal.send({ url: '/portal/session', headers })).statusCode === 200;

it('CK-01 CK-03 every cookie of every answer is for this host only, over https, and not readable by scripts', async () => {
  const http = {
    'x-forwarded-proto': 'http',
    forwarded: 'proto=http;host=evil.example',
    'x-forwarded-host': 'evil.example',
  };
  const signedIn = await portal.signIn('alice', testPassword, { headers: http });
  const cookies = cookiesOf(signedIn);
  const sso = { username: 'frida@careful.test' };
  const visit = await portal.send({ method: 'POST', url: '/portal/authenticate/performSsoLogin', form: sso });
  const longestName = '\u0001'.repeat(320);
  const answers: Response[] = [
    signedIn,
    visit,
    await portal.signIn('alice', testPassword, { cookies: cookiesOf(visit) }),
    await portal.signIn('alice', 'wrong'),
    await portal.signIn(longestName, 'wrong'),
    await portal.signIn('dave', testPassword),
    await portal.signIn('carol', testPassword),
    await portal.signIn('frida', testPassword),
    await portal.signIn('alice', testPassword, { cookies: { '__Host-vestibule-refusal': 'e30' } }),
    await portal.send({ url: '/portal/logout', cookies, headers: { 'sec-fetch-site': 'same-origin', ...http } }),
    await portal.send({ method: 'POST', url: '/portal/logout' }),
    await portal.send({ method: 'POST', url: '/portal/passkeys/options' }),
    await portal.send({ url: registrationUrl, cookies: cookiesOf(await portal.signIn('gina', testPassword)) }),
  ];
  const headers = answers.flatMap((answer) => answer.headers['set-cookie'] ?? []);
  expect(headers.length).toBeGreaterThanOrEqual(answers.length);
  expect(headers.filter((header) => header.includes('-visit='))).toHaveLength(1);
  for (const header of headers) {
    expect(header).toMatch(
      /^__Host-vestibule-(?:session|device|refusal|connection|passkey|registration|visit)=[\w-]*; Path=\/; HttpOnly; SameSite=Lax; Secure(?:; Max-Age=\d+)?$/,
    );
    expect(header.length).toBeLessThan(4096);
  }
});

it('CK-01 no answer without sign-in sets any cookie', async () => {
  for (const url of [
    '/',
    '/portal/',
    '/portal/login',
    '/portal/forgotten',
    '/portal/nothing',
    '/portal/portal.html',
    '/portal/session',
    '/portal/logout',
  ])
    expect((await portal.send({ url })).headers['set-cookie'], url).toBeUndefined();
  const refused = await portal.send({
    method: 'POST',
    url: '/portal/performlogin',
    headers: { origin: 'https://evil.example' },
  });
  expect(refused.headers['set-cookie']).toBeUndefined();
});

it('CK-02 a public address over http is only for this machine', () => {
  for (const url of ['http://portal.example', 'http://10.0.0.1', 'http://localhost.evil.example', 'ftp://localhost']) {
    const result = readConfig({ PUBLIC_URL: url });
    expect(result.kind, url).toBe('refused');
    if (result.kind === 'refused') expect(result.problems.join()).toContain('PUBLIC_URL');
  }
  expect(readConfig({ PUBLIC_URL: 'http://localhost:3000' }).kind).toBe('ok');
});

it('CK-04 a doubled cookie, or one without the prefix that binds it to this host, identifies nobody', async () => {
  const token = cookiesOf(await portal.signIn('alice', testPassword))['__Host-vestibule-session'] ?? '';
  const name = '__Host-vestibule-session';
  expect(await isSigned({ cookie: `${name}=${token}` })).toBe(true);
  expect(await isSigned({ cookie: `a=b;${name}=${token};c=d` })).toBe(true);
  const tossed = [
    `${name}=${token}; ${name}=${token}`,
    `${name}=${'A'.repeat(43)}; ${name}=${token}`,
    `${name}=; ${name}=${token}`,
    `vestibule-session=${token}`,
    `__host-vestibule-session=${token}`,
    `__Secure-vestibule-session=${token}`,
    `${name}%20=${token}`,
    `x=${name}=${token}`,
    `"${name}"=${token}`,
    `${name}=${token},${name}=${token}`,
  ];
  for (const cookie of tossed) expect(await isSigned({ cookie }), cookie).toBe(false);
});

it('CK-04 a doubled device cookie makes no browser known', async () => {
  const { '__Host-vestibule-device': device = '' } = cookiesOf(await portal.signIn('bob', testPassword));
  const headers = { cookie: `__Host-vestibule-device=${'A'.repeat(43)}; __Host-vestibule-device=${device}` };
  const made = cookiesOf(await portal.signIn('bob', testPassword, { headers }))['__Host-vestibule-device'];
  expect(made).toMatch(/^[\w-]{43}$/);
  expect([device, 'A'.repeat(43)]).not.toContain(made);
});

it('CK-05 a failed or cancelled sign-in leaves no cookie for longer than ten minutes', async () => {
  for (const [username, password] of [
    ['alice', 'wrong'],
    ['carol', testPassword],
    ['frida', testPassword],
  ] as const) {
    const answer = await portal.signIn(username, password);
    for (const { name, maxAge } of answer.cookies) expect(maxAge ?? 0, `${username} ${name}`).toBeLessThanOrEqual(600);
  }
});

it('a tampered notice shows none of its content', async () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const values = [
    '%',
    'x'.repeat(4000),
    encode(null),
    encode([]),
    encode({ username: { a: 1 } }),
    encode({ username: 'x'.repeat(400) }),
  ];
  for (const value of values) {
    const page = await portal.send({ url: '/portal/login', cookies: { '__Host-vestibule-refusal': value } });
    expect(page.statusCode, value.slice(0, 40)).toBe(200);
  }
});
