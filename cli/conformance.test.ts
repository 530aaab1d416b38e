import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type Fault, faultyBackend, fortyLineBackend } from '#test/support/forty-line-backend.ts';
import { freePort } from '#test/support/free-port.ts';
import { configFrom, testPassword as password, portalForTest } from '#test/support/portal-for-test.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';
import { runsAll } from '#test/support/runs-all.ts';

const folder = mkdtempSync(join(quickFolder, 'vestibule-conformance-'));
afterAll(() => rmSync(folder, { recursive: true }));
function fileOf(known: object): string {
  const path = join(folder, 'account.json');
  writeFileSync(path, JSON.stringify(known));
  return path;
}

const account = { username: 'ada', password };
const conformance = (url: string, known: object, ...flags: string[]) =>
  runVestibule(['conformance', url, '--account', fileOf(known), ...flags], { env: {} });

async function listening(fault?: Fault): Promise<{ url: string; close: () => void }> {
  const backend = fortyLineBackend({ users: { ada: { password } }, links: new Map() });
  const server = fault ? faultyBackend(backend, fault) : backend;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/portal`, close: () => server.close() };
}

/** Calls, the check that notices what each does wrong, and what that is. */
const faults: [string, string, Omit<Fault, 'call'>][] = [
  ['POST /performlogin', 'a wrong password', { status: 307 }],
  ['POST /performlogin', 'a form of another site', { fromAnySite: true }],
  ['POST /authenticate/checkSsoLogin', 'a new browser', { status: 404 }],
  ['POST /authenticate/performSsoLogin', 'an unknown domain', { status: 200 }],
  ['POST /password/forgotten', 'an unknown address', { status: 404 }],
  ['POST /password/change', 'an unknown link', { to: '/portal/forgottenChangeFailedInfo' }],
  ['GET /two-factor-authentication/registration', 'without a sign-in', { status: 200, json: {} }],
  ['POST /two-factor-authentication/verify', 'without a sign-in', { status: 200, json: true }],
  ['GET /logout', 'by a link', { to: '/' }],
  ['POST /performlogin', 'the right password', { when: /portal.html/, to: '/portal/forgotten' }],
  ['POST /performlogin', 'a destination elsewhere', { when: /elsewhere/, to: 'https://elsewhere.example/' }],
  ['POST /performlogin', expect.stringContaining('cookies'), { cookie: 'sid=1; HttpOnly; SameSite=None' }],
];

it('a backend of forty lines passes every check, each of which some fault below is noticed by', async () => {
  const { url, close } = await listening();
  const { out, code } = await conformance(url, account, '--json');
  const tried = (JSON.parse(out) as { call: string; what: string; ok: boolean }[]).map(({ call, what, ok }) => [
    call,
    what,
    ok,
  ]);
  expect([code, tried]).toEqual([0, faults.map(([call, what]) => [call, what, true])]);
  expect((await conformance(url, {})).out).toContain('passed  – POST /performlogin – a wrong password\n');
  close();
});

it('our own server keeps every call', async () => {
  const port = await freePort();
  const portal = await portalForTest(configFrom({ PORT: String(port) }));
  // The command has no other clock.
  portal.wait(Date.now() - portal.deps.now().getTime());
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'ada' });
  await portal.app.listen({ host: '127.0.0.1', port });
  const { code, out } = await conformance(`http://localhost:${port}/portal`, account);
  expect([code, out]).toEqual([0, expect.not.stringContaining('differs')]);
  await portal.close();
});

// A command for each fault: three are of the same class as all.
it.each(runsAll ? faults : faults.slice(0, 3))('a fault is noticed: %s – %s: %j', async (call, what, fault) => {
  const backend = await listening({ call: call.replace(' /', ' '), ...fault });
  const { code, out } = await conformance(backend.url, account, '--json');
  backend.close();
  expect(code).toBe(1);
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ call, what, ok: false }));
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
  const { out, err } = await conformance(backend.url, account);
  backend.close();
  expect(out).toContain('differs');
  expect(out + err).not.toContain(password);
});
