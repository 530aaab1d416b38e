import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type Fault, faultyBackend, fortyLineBackend } from '#test/support/forty-line-backend.ts';
import { freePort } from '#test/support/free-port.ts';
import { configFrom, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';
import { eachRow, runsAll } from '#test/support/runs-all.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import { giveApp } from '#test/support/two-factor-for-test.ts';
import { targetInWords, targetOf } from './backend-visit.ts';
import type { Account } from './conformance-checks.ts';

const password = testPassword;
const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const hash = 'a-reset-link-of-ada';

type Line = { call: string; what: string; kind: 'passed' | 'differs' | 'not tried' };
const nameOf = ({ call, what }: Line) => `${call} – ${what}`;

/** One account of each kind; together they let everything be tried. */
const accounts: Account[] = [
  {
    ...{ username: 'ada', password, email: 'ada@acme.test', ssoEmail: 'x@sso.test', newPassword },
    resetLink: `https://hub.example.com/portal/forgottenChange?hash=${hash}`,
  },
  { username: 'tom', password, totpSecret: secret },
  { username: 'nia', password },
];

const conformance = (url: string, account: object, ...flags: string[]) =>
  runVestibule(['conformance', url, '--account', '-', ...flags], { env: {}, input: JSON.stringify(account) });

/** Every account at a backend: what differs, and what nobody passed. */
async function tryAll(url: string, known = accounts) {
  const codes: number[] = [];
  const lines: Line[] = [];
  for (const account of known) {
    const { code, out } = await conformance(url, account, '--json');
    codes.push(code);
    lines.push(...(JSON.parse(out) as Line[]));
  }
  const namesOf = (kind: Line['kind']) => lines.filter((line) => line.kind === kind).map(nameOf);
  const all = lines.map(nameOf);
  const passed = namesOf('passed');
  return { codes, all, differs: namesOf('differs'), unproven: all.filter((name) => !passed.includes(name)) };
}

async function listening(fault?: Fault): Promise<{ url: string; close: () => void }> {
  const backend = fortyLineBackend({
    users: { ada: { password }, tom: { password, secret }, nia: { password, mustRegister: true } },
    links: new Map([[hash, 'ada']]),
  });
  const server = fault ? faultyBackend(backend, fault) : backend;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/portal`, close: () => server.close() };
}

describe('a backend of forty lines', () => {
  let backend: { url: string; close: () => void };
  beforeAll(async () => {
    backend = await listening();
  });
  afterAll(() => backend.close());

  it('passes every check, each of which some fault below is noticed by', async () => {
    const { codes, all, differs, unproven } = await tryAll(backend.url);
    expect([codes, differs, unproven]).toEqual([[0, 0, 0], [], []]);
    const noticed = faults.map(([call, what]) => `${call} – ${what}`);
    expect(all.filter((name) => !noticed.includes(name))).toEqual([]);
  });

  it('is tried without an account, too, and says what was not tried and why', async () => {
    const { out, code } = await conformance(backend.url, {});
    expect(code).toBe(0);
    expect(out).toContain('passed    – POST performlogin – an unknown name\n');
    expect(out).toContain('not tried – POST performlogin – a wrong password – needs username of the account\n');
    expect(out).toMatch(/\n\d+ passed, 0 differ, \d+ not tried\.\n$/);
  });
});

it('our own server keeps every call, with each kind of account', async () => {
  const port = await freePort();
  const portal = await portalForTest(configFrom({ PORT: String(port) }));
  // The command has no other clock.
  portal.wait(Date.now() - portal.deps.now().getTime());
  const provider = await startForgedProvider(portal.deps);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'apps', { twoFactor: 'app' });
  await addCustomer(portal, 'mails', { twoFactor: 'email' });
  for (const [username, customer] of Object.entries({ ada: 'acme', tom: 'apps', nia: 'apps', eve: 'mails' }))
    await addUser(portal, { username, customers: [customer] });
  const totpSecret = await giveApp(portal, 'tom');
  await addOidcConnection(portal, provider, { domains: ['sso.test'] });
  await portal.app.listen({ host: '127.0.0.1', port });
  const [ada, tom, nia] = accounts;
  const ours = [{ ...ada, resetLink: await linkFor(portal, 'ada') }, { ...tom, totpSecret }, { ...nia }];
  const tried = await tryAll(`http://localhost:${port}/portal`, [...ours, { username: 'eve', password }]);
  expect([tried.codes, tried.differs, tried.unproven]).toEqual([[0, 0, 0, 0], [], []]);
  await portal.close();
  await provider.close();
}, 180_000);

/** Calls, the check that notices what each does wrong, and what that is. */
const faults: [string, string, Omit<Fault, 'call'>][] = [
  ['POST performlogin', 'a wrong password', { status: 307 }],
  ['POST performlogin', 'the right password, with a destination', { when: /password=Lantern/, to: '/elsewhere' }],
  ['POST performlogin', 'an unknown name', { when: /username=nobody/, to: '/portal/forgotten' }],
  ['POST performlogin', 'a destination elsewhere', { when: /elsewhere/, to: 'https://elsewhere.example/' }],
  ['POST performlogin', 'the cookie of a sign-in', { cookie: 'sid=1; HttpOnly; SameSite=None' }],
  ['POST performlogin', 'posted by another site', { fromAnySite: true }],
  ['POST authenticate/checkSsoLogin', 'a new browser', { status: 404 }],
  ['POST authenticate/checkSsoLogin', 'posted by another site', { fromAnySite: true }],
  ['POST authenticate/performSsoLogin', 'an unknown domain', { status: 200 }],
  ['POST authenticate/performSsoLogin', 'a known domain', { to: '/portal/loginfail/oidc' }],
  ['POST authenticate/performSsoLogin', 'posted by another site', { fromAnySite: true }],
  ['POST password/forgotten', 'an unknown address, by script', { when: /nobody/, status: 404 }],
  ['POST password/forgotten', 'a known address, as an unknown one', { when: /ada/, status: 200 }],
  ['POST password/forgotten', 'the form without JavaScript', { status: 204 }],
  ['POST password/forgotten', 'posted by another site', { fromAnySite: true }],
  ['POST password/change', 'an unknown link', { to: '/portal/forgottenChangeFailedInfo' }],
  ['POST password/change', 'two different passwords', { when: /-9%21x/, to: '/portal/forgottenChangedInfo' }],
  ['POST password/change', 'a weak password', { when: /aaaaaaaa/, to: '/portal/forgottenChangedInfo' }],
  [
    'POST password/change',
    'a new password',
    { when: new RegExp(newPassword), to: '/portal/forgottenChangeFailedInfo?reason=4' },
  ],
  ['POST password/change', 'the same link again', { when: /Zeltplatz.*a-reset/, to: '/portal/forgottenChangedInfo' }],
  ['POST password/change', 'posted by another site', { fromAnySite: true }],
  ['GET two-factor-authentication/registration', 'without a sign-in', { status: 200, json: {} }],
  ['GET two-factor-authentication/registration', 'url and totpSecret', { status: 200, json: { url: '/qr' } }],
  ['GET two-factor-authentication/registration', 'the same secret on a reload', { status: 200, isNewEachTime: true }],
  ['POST two-factor-authentication/verify', 'a wrong code', { status: 200, json: true }],
  ['POST two-factor-authentication/verify', 'without a sign-in', { status: 200, json: true }],
  ['POST two-factor-authentication/verify', 'the right code', { status: 200, json: false }],
  ['POST two-factor-authentication/verify', 'the same code again', { status: 200, json: 1 }],
  ['GET logout', 'by script', { status: 404 }],
  ['GET logout', 'by a link', { to: '/' }],
];

// A command for each account and fault: three are of the same class as all.
it.each(runsAll ? faults : faults.slice(0, 3))('a fault is noticed: %s – %s: %j', async (call, what, fault) => {
  const backend = await listening({ call, ...fault });
  const { differs, codes } = await tryAll(backend.url);
  backend.close();
  expect(differs).toContain(`${call} – ${what}`);
  expect(codes).toContain(1);
});

it.each([
  ['nonsense', 1, /"nonsense" is not an address such as/],
  ['https://me:secret@hub.example.com/', 1, /is not an address such as/],
  ['http://hub.example.com/portal', 1, /must be https/],
  ['http://localhost:1', 3, /^http:\/\/localhost:1 does not answer \(ECONNREFUSED\)\.\n$/],
])('%s is refused', async (url, code, words) => {
  expect(await conformance(url, {})).toEqual({ code, out: '', err: expect.stringMatching(words) });
});

it('nothing secret is printed, even if the backend repeats it', async () => {
  const backend = await listening({ call: 'POST performlogin', repeats: true });
  for (const account of accounts) {
    const { out, err } = await conformance(backend.url, account);
    expect(out).toContain('differs');
    for (const word of [password, newPassword, secret, hash]) expect(out + err).not.toContain(word);
  }
  backend.close();
  await eachRow(
    [
      ['/portal/forgottenChangeFailedInfo?3', 'forgottenChangeFailedInfo?reason=3'],
      ['/portal/#/twoFactor?codeSentViaEmail=true&x=Lantern', 'twoFactor?codeSentViaEmail=true'],
      ['/portal/twoFactor?reason=123456', 'twoFactor'],
      ['/portal/loginfail/Lantern', 'loginfail/default'],
      ['/portal/app;jsessionid=1234?x#y', 'an address that is no screen'],
      ['https://lantern.example/', 'another origin'],
    ],
    ([address, words]) => {
      const base = new URL('https://hub.example.com/portal');
      expect(targetInWords(targetOf(new URL(address, base), base))).toBe(words);
    },
  );
});
