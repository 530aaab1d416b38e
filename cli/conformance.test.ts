import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type BackendData, type Fault, faultyBackend, fortyLineBackend } from '#test/support/forty-line-backend.ts';
import { freePort } from '#test/support/free-port.ts';
import { configFrom, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { linkFor, newPassword as resetPassword } from '#test/support/reset-for-test.ts';
import { type CommandResult, runVestibule } from '#test/support/run-vestibule.ts';
import { runsAll } from '#test/support/runs-all.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import { giveApp } from '#test/support/two-factor-for-test.ts';
import { inWords } from './backend-visit.ts';

const password = 'Lantern-Harbour-42';
const newPassword = 'Copper-Meadow-77';
const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const hash = 'a-reset-link-of-ada';

type Line = {
  call: string;
  what: string;
  kind: 'passed' | 'differs' | 'not tried';
  expected?: string;
  got?: string;
};

const dataOf = (): BackendData => ({
  users: { ada: { password }, tom: { password, secret }, nia: { password, mustRegister: true } },
  links: new Map([[hash, 'ada']]),
});

/** One run for each kind of account; together they try everything. */
const runs: [string, string[], string][] = [
  [
    'a password alone',
    ['--username', 'ada', '--email', 'ada@acme.test', '--sso-email', 'x@sso.test', '--reset-link'],
    `${password}\nhttps://hub.example.com/portal/forgottenChange?hash=${hash}\n${newPassword}\n`,
  ],
  ['an app', ['--username', 'tom', '--totp'], `${password}\n${secret}\n`],
  ['an app to set up', ['--username', 'nia'], `${password}\n`],
];

const conformance = (url: string, flags: readonly string[], input = '') =>
  runVestibule(['conformance', url, ...flags, '--password-stdin'], { env: {}, input });

const linesOf = ({ out }: CommandResult) => JSON.parse(out) as Line[];
const nameOf = ({ call, what }: Line) => `${call} – ${what}`;

/** Every run against a backend: what differs, and what each run passed. */
async function tryAll(
  url: string,
): Promise<{ differs: Line[]; passed: Set<string>; all: Set<string>; codes: number[] }> {
  const results: CommandResult[] = [];
  for (const [, flags, input] of runs) results.push(await conformance(url, [...flags, '--json'], input));
  const lines = results.flatMap(linesOf);
  return {
    differs: lines.filter(({ kind }) => kind === 'differs'),
    passed: new Set(lines.filter(({ kind }) => kind === 'passed').map(nameOf)),
    all: new Set(lines.map(nameOf)),
    codes: results.map(({ code }) => code),
  };
}

async function listening(fault?: Fault): Promise<{ url: string; close: () => void }> {
  const backend = fortyLineBackend(dataOf());
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

  it('passes every check, and each is tried with one account or another', async () => {
    const { differs, passed, all, codes } = await tryAll(backend.url);
    expect(differs).toEqual([]);
    expect([...all].filter((name) => !passed.has(name))).toEqual([]);
    expect(all.size).toBeGreaterThan(28);
    expect(codes).toEqual([0, 0, 0]);
  });

  it('is tried without an account, too, and says what was not tried and why', async () => {
    const { out, code } = await conformance(backend.url, []);
    expect(code).toBe(0);
    expect(out).toContain('passed    – POST performlogin – an unknown name\n');
    expect(out).toContain('not tried – POST performlogin – a wrong password – needs --username\n');
    expect(out).toMatch(/\n\d+ passed, 0 differ, \d+ not tried\.\n$/);
  });
});

describe('our own server', () => {
  it('keeps every call, with each kind of account', async () => {
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
    const app = await giveApp(portal, 'tom');
    await addOidcConnection(portal, provider, { domains: ['sso.test'] });
    await portal.app.listen({ host: '127.0.0.1', port });
    const url = `http://localhost:${port}/portal`;
    const link = `${url}/forgottenChange?hash=${await linkFor(portal, 'ada')}`;
    const more = ['--email', 'ada@acme.test', '--sso-email', 'someone@sso.test', '--reset-link'];
    const lines: Line[] = [];
    for (const [username, flags, rest] of [
      ['ada', more, [link, resetPassword]],
      ['tom', ['--totp'], [app]],
      ['nia', [], []],
      ['eve', [], []],
    ] as [string, string[], string[]][]) {
      const result = await conformance(
        url,
        ['--username', username, ...flags, '--json'],
        [testPassword, ...rest].join('\n'),
      );
      expect([result.code, result.err], username).toEqual([0, '']);
      lines.push(...linesOf(result));
    }
    expect(lines.filter(({ kind }) => kind === 'differs')).toEqual([]);
    const passed = new Set(lines.filter(({ kind }) => kind === 'passed').map(nameOf));
    expect(lines.map(nameOf).filter((name) => !passed.has(name))).toEqual([]);
    await portal.close();
    await provider.close();
  }, 180_000);
});

/** Calls, the check that notices what each does wrong, and what that is. */
const faults: [string, string, Omit<Fault, 'call'>][] = [
  ['POST performlogin', 'a wrong password', { status: 307 }],
  ['POST performlogin', 'the right password, with a destination', { when: /password=Lantern/, to: '/elsewhere' }],
  ['POST performlogin', 'an unknown name', { when: /username=nobody/, to: '/portal/forgotten' }],
  ['POST performlogin', 'a destination elsewhere', { when: /elsewhere/, to: 'https://elsewhere.example/' }],
  ['POST performlogin', 'the cookie of a sign-in', { cookie: 'sid=1; SameSite=Lax' }],
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
  ['POST password/change', 'a new password', { when: /Copper/, to: '/portal/forgottenChangeFailedInfo?reason=4' }],
  [
    'POST password/change',
    'the same link again',
    { when: /Zeltplatz.*hash=a-reset/, to: '/portal/forgottenChangedInfo' },
  ],
  ['POST password/change', 'posted by another site', { fromAnySite: true }],
  ['GET two-factor-authentication/registration', 'without a sign-in', { status: 200, json: {} }],
  ['GET two-factor-authentication/registration', 'url and totpSecret', { status: 200, json: { url: '/qr' } }],
  [
    'GET two-factor-authentication/registration',
    'url and totpSecret',
    { status: 200, json: { url: 'https://qr.example/', totpSecret: secret } },
  ],
  ['GET two-factor-authentication/registration', 'the same secret on a reload', { status: 200, isNewEachTime: true }],
  ['POST two-factor-authentication/verify', 'a wrong code', { status: 200, json: true }],
  ['POST two-factor-authentication/verify', 'without a sign-in', { status: 200, json: true }],
  ['POST two-factor-authentication/verify', 'the right code', { status: 200, json: false }],
  ['POST two-factor-authentication/verify', 'the same code again', { status: 200, json: 1 }],
  ['GET logout', 'by script', { status: 404 }],
  ['GET logout', 'by a link', { to: '/' }],
];

describe('a fault is noticed', () => {
  // Three calls, a command for each kind of account and fault: the others are of the same class.
  it.each(runsAll ? faults : faults.slice(0, 3))('%s – %s: %j', async (call, what, fault) => {
    const backend = await listening({ call, ...fault });
    const { differs, codes } = await tryAll(backend.url);
    backend.close();
    expect(differs.map(nameOf)).toContain(`${call} – ${what}`);
    expect(codes).toContain(1);
  });

  it('every check notices one', async () => {
    const backend = await listening();
    const { all } = await tryAll(backend.url);
    backend.close();
    const noticed = new Set(faults.map(([call, what]) => `${call} – ${what}`));
    expect([...all].filter((name) => !noticed.has(name))).toEqual([]);
  });
});

describe('bad input', () => {
  it.each([
    ['nonsense', /"nonsense" is not an address such as/],
    ['ftp://hub.example.com', /is not an address such as/],
    ['https://me:secret@hub.example.com/', /is not an address such as/],
    ['http://hub.example.com/portal', /must be https/],
  ])('%s is refused', async (url, words) => {
    const { code, out, err } = await conformance(url, []);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(words);
  });

  it('a backend that does not answer is said to', async () => {
    const { url, close } = await listening();
    close();
    const { code, out, err } = await conformance(url, []);
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/^http:\/\/localhost:\d+ does not answer \(ECONNREFUSED\)\.\n$/);
  });

  it('too few lines on standard input', async () => {
    const { code, err } = await conformance('http://localhost:1', ['--username', 'tom', '--totp'], 'one\n');
    expect([code, err]).toEqual([1, 'Expected on standard input, one a line: password, secret of the app.\n']);
  });

  it('nothing secret is printed, even if the backend repeats it', async () => {
    const backend = await listening({ call: 'POST performlogin', repeats: true });
    for (const [, flags, input] of runs) {
      const { out, err } = await conformance(backend.url, flags, input);
      expect(out).toContain('differs');
      for (const word of [password, newPassword, secret, hash]) expect(out + err).not.toContain(word);
    }
    backend.close();
  });
});

it.each([
  ['/portal/forgottenChangeFailedInfo?reason=3', 'forgottenChangeFailedInfo?reason=3'],
  ['/portal/forgottenChangeFailedInfo?3', 'forgottenChangeFailedInfo?reason=3'],
  ['/portal/#/twoFactor?codeSentViaEmail=true&x=Lantern', 'twoFactor?codeSentViaEmail=true'],
  ['/portal/twoFactor?reason=123456', 'twoFactor'],
  ['/portal/loginfail/Lantern', 'loginfail/default'],
  ['/portal/app;jsessionid=1234?x#y', 'an address that is no screen'],
  ['https://lantern.example/', 'another origin'],
])('an answer that leads to %s is told without what may be secret', (address, words) => {
  const base = new URL('https://hub.example.com/portal');
  const location = new URL(address, base);
  const answer = { status: 303, location, json: undefined, setCookies: [] };
  expect(inWords(answer, base)).toBe(`303 to ${words}`);
});
