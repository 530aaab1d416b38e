import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ForgedProvider, startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { freePort } from '#test/support/free-port.ts';
import { configFrom, type PortalForTest, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import { giveApp } from '#test/support/two-factor-for-test.ts';

let portal: PortalForTest;
let provider: ForgedProvider;
let url: string;
let secret: string;

beforeAll(async () => {
  const port = await freePort();
  portal = await portalForTest(configFrom({ PORT: String(port) }));
  // The command has no other clock.
  portal.wait(Date.now() - portal.deps.now().getTime());
  provider = await startForgedProvider(portal.deps);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'apps', { twoFactor: 'app' });
  await addCustomer(portal, 'mails', { twoFactor: 'email' });
  for (const [username, customer] of Object.entries({ ada: 'acme', tom: 'apps', nia: 'apps', eve: 'mails' }))
    await addUser(portal, { username, customers: [customer] });
  secret = await giveApp(portal, 'tom');
  await addOidcConnection(portal, provider, { domains: ['sso.test'] });
  await portal.app.listen({ host: '127.0.0.1', port });
  url = `http://localhost:${port}/portal`;
});

afterAll(async () => {
  await portal.close();
  await provider.close();
});

it('our own server keeps every call, with each kind of account', async () => {
  const link = `${url}/forgottenChange?hash=${await linkFor(portal, 'ada')}`;
  const more = ['--email', 'ada@acme.test', '--sso-email', 'someone@sso.test', '--reset-link'];
  const runs: [string, string[], string[]][] = [
    ['ada', more, [link, newPassword]],
    ['tom', ['--totp'], [secret]],
    ['nia', [], []],
    ['eve', [], []],
  ];
  const kinds = new Map<string, Set<string>>();
  for (const [username, flags, rest] of runs) {
    const args = ['conformance', url, '--username', username, '--password-stdin', ...flags, '--json'];
    const { code, out, err } = await runVestibule(args, { env: {}, input: [testPassword, ...rest].join('\n') });
    expect(err).toBe('');
    const lines: { call: string; what: string; kind: string }[] = JSON.parse(out);
    expect(
      lines.filter(({ kind }) => kind === 'differs'),
      username,
    ).toEqual([]);
    expect(code).toBe(0);
    for (const { call, what, kind } of lines) {
      const name = `${call} – ${what}`;
      kinds.set(name, (kinds.get(name) ?? new Set()).add(kind));
    }
  }
  // Its pages learn of a sign-out from the server.
  expect([...kinds].filter(([, each]) => !each.has('passed'))).toEqual([
    ['GET logout – clears what the tab keeps', new Set(['advised', 'not tried'])],
  ]);
});
