import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BackendData, type Fault, faultyBackend, fortyLineBackend } from '#test/support/forty-line-backend.ts';
import { type CommandResult, runVestibule } from '#test/support/run-vestibule.ts';
import { runsAll } from '#test/support/runs-all.ts';
import { inWords } from './backend-visit.ts';

const password = 'Lantern-Harbour-42';
const newPassword = 'Copper-Meadow-77';
const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const hash = 'a-reset-link-of-ada';

type Line = {
  call: string;
  what: string;
  kind: 'passed' | 'differs' | 'advised' | 'not tried';
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
    expect(all.size).toBeGreaterThan(30);
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

/** A fault in each call, and the check that notices it. */
const faults: [string, Fault, string][] = [
  ['repeats the post with the password', { call: 'POST performlogin', status: 307 }, 'a wrong password'],
  [
    'leads nowhere',
    { call: 'POST performlogin', when: /password=Lantern/, to: '/elsewhere' },
    'the right password, with a destination',
  ],
  [
    'tells who has an account',
    { call: 'POST performlogin', when: /username=nobody/, to: '/portal/forgotten' },
    'an unknown name',
  ],
  [
    'leads elsewhere',
    { call: 'POST performlogin', when: /elsewhere/, to: 'https://elsewhere.example/' },
    'a destination elsewhere',
  ],
  [
    'hands its cookie to scripts',
    { call: 'POST performlogin', cookie: 'sid=1; SameSite=Lax' },
    'the cookie of a sign-in',
  ],
  [
    'sends its cookie to every site',
    { call: 'POST performlogin', cookie: 'sid=1; HttpOnly; SameSite=None' },
    'the cookie of a sign-in',
  ],
  ['lets other sites sign in', { call: 'POST performlogin', fromAnySite: true }, 'posted by another site'],
  ['has no check', { call: 'POST authenticate/checkSsoLogin', status: 404 }, 'a new browser'],
  ['lets other sites ask', { call: 'POST authenticate/checkSsoLogin', fromAnySite: true }, 'posted by another site'],
  [
    'answers an unknown domain with a page',
    { call: 'POST authenticate/performSsoLogin', status: 200 },
    'an unknown domain',
  ],
  ['knows no domain', { call: 'POST authenticate/performSsoLogin', to: '/portal/loginfail/oidc' }, 'a known domain'],
  [
    'lets other sites leave',
    { call: 'POST authenticate/performSsoLogin', fromAnySite: true },
    'posted by another site',
  ],
  [
    'tells who has an account',
    { call: 'POST password/forgotten', when: /nobody/, status: 404 },
    'an unknown address, by script',
  ],
  [
    'answers known addresses otherwise',
    { call: 'POST password/forgotten', when: /ada/, status: 200 },
    'a known address, as an unknown one',
  ],
  ['leaves people without JavaScript', { call: 'POST password/forgotten', status: 204 }, 'the form without JavaScript'],
  ['lets other sites send mail', { call: 'POST password/forgotten', fromAnySite: true }, 'posted by another site'],
  ['gives no reason', { call: 'POST password/change', to: '/portal/forgottenChangeFailedInfo' }, 'an unknown link'],
  [
    'takes two passwords',
    { call: 'POST password/change', when: /-9%21x/, to: '/portal/forgottenChangedInfo' },
    'two different passwords',
  ],
  [
    'takes any password',
    { call: 'POST password/change', when: /aaaaaaaa/, to: '/portal/forgottenChangedInfo' },
    'a weak password',
  ],
  [
    'changes nothing',
    { call: 'POST password/change', when: /Copper/, to: '/portal/forgottenChangeFailedInfo?reason=4' },
    'a new password',
  ],
  [
    'takes a link twice',
    { call: 'POST password/change', when: /Zeltplatz.*hash=a-reset/, to: '/portal/forgottenChangedInfo' },
    'the same link again',
  ],
  ['lets other sites change it', { call: 'POST password/change', fromAnySite: true }, 'posted by another site'],
  [
    'shows a key to anybody',
    { call: 'GET two-factor-authentication/registration', status: 200, json: {} },
    'without a sign-in',
  ],
  [
    'has no key',
    { call: 'GET two-factor-authentication/registration', status: 200, json: { url: '/qr' } },
    'url and totpSecret',
  ],
  [
    'shows a picture of another origin',
    {
      call: 'GET two-factor-authentication/registration',
      status: 200,
      json: { url: 'https://qr.example/', totpSecret: secret },
    },
    'url and totpSecret',
  ],
  [
    'makes a new key each time',
    { call: 'GET two-factor-authentication/registration', status: 200, isNewEachTime: true },
    'the same secret on a reload',
  ],
  ['takes any code', { call: 'POST two-factor-authentication/verify', status: 200, json: true }, 'a wrong code'],
  [
    'takes codes of nobody',
    { call: 'POST two-factor-authentication/verify', status: 200, json: true },
    'without a sign-in',
  ],
  ['takes no code', { call: 'POST two-factor-authentication/verify', status: 200, json: false }, 'the right code'],
  [
    'takes a code twice',
    { call: 'POST two-factor-authentication/verify', status: 200, json: 1 },
    'the same code again',
  ],
  [
    'takes codes after a sign-out',
    { call: 'POST two-factor-authentication/verify', status: 200, json: true },
    'the right code after a sign-out',
  ],
  ['has no sign-out', { call: 'GET logout', status: 404 }, 'by script'],
  ['leads elsewhere', { call: 'GET logout', to: '/' }, 'by a link'],
  ['lets other sites sign people out', { call: 'GET logout', fromAnySite: true }, 'from another site changes nothing'],
];

/** The one check of what the specification leaves open. */
const advice = 'GET logout – clears what the tab keeps';

it('a sign-out that leaves the tab as it is gets an advice, and differs in nothing', async () => {
  const backend = await listening({ call: 'GET logout', to: '/portal/login' });
  const { out, code } = await conformance(backend.url, ['--username', 'ada'], `${password}\n`);
  const json = await conformance(backend.url, ['--username', 'ada', '--json'], `${password}\n`);
  const pending = await conformance(backend.url, ['--username', 'tom'], `${password}\n`);
  backend.close();
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^advised   – ${advice} – .*send Clear-Site-Data: "storage"`, 'm'));
  expect(out).toMatch(/\n\d+ passed, 0 differ, \d+ not tried, 1 advised\.\n$/);
  expect(linesOf(json).filter(({ kind }) => kind === 'advised')).toEqual([
    expect.objectContaining({ call: 'GET logout', why: expect.stringContaining('Clear-Site-Data') }),
  ]);
  expect(pending.out).toContain(`not tried – ${advice} – nobody is signed in before the second factor\n`);
});

describe('a fault is noticed', () => {
  // Three calls, a command for each kind of account and fault: the others are of the same class.
  it.each(runsAll ? faults : faults.slice(0, 3))('%s: %j', async (_, fault, check) => {
    const backend = await listening(fault);
    const { differs, codes } = await tryAll(backend.url);
    backend.close();
    const name = `${fault.call} – ${check}`;
    expect(differs.map(nameOf)).toContain(name);
    const line = differs.find((each) => nameOf(each) === name);
    expect(line?.expected).not.toBe(line?.got);
    expect(codes).toContain(1);
  });

  it('every check notices one', async () => {
    const backend = await listening();
    const { all } = await tryAll(backend.url);
    backend.close();
    const noticed = new Set(faults.map(([, { call }, check]) => `${call} – ${check}`)).add(advice);
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

  it('a sign-out by another site is not tried where the answer to a wrong code is always the same', async () => {
    const backend = await listening({ call: 'POST two-factor-authentication/verify', status: 200, json: false });
    const { out } = await conformance(
      backend.url,
      ['--username', 'tom', '--totp', '--json'],
      `${password}\n${secret}\n`,
    );
    const lines = JSON.parse(out) as Line[];
    expect(lines.find(({ what }) => what === 'from another site changes nothing')?.kind).toBe('not tried');
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
  const answer = { status: 303, location, json: undefined, setCookies: [], clearSiteData: '' };
  expect(inWords(answer, base)).toBe(`303 to ${words}`);
});
