import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  for (const twoFactor of ['app', 'email'] as const) {
    await addCustomer(portal, `with-${twoFactor}`, { twoFactor });
    await addUser(portal, { username: `${twoFactor}-user`, customers: [`with-${twoFactor}`] });
    await addUser(portal, { username: `${twoFactor}-too`, customers: ['acme', `with-${twoFactor}`] });
  }
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
});

const registration = (query: Record<string, string>) => `/portal/twoFactorRegistration?${new URLSearchParams(query)}`;

/** Where a request ends up after all redirects. */
async function landing(url: string, cookies: Record<string, string>): Promise<string> {
  const { headers } = await portal.send({ url, cookies });
  return typeof headers.location === 'string' ? await landing(headers.location, cookies) : url;
}

async function halfSession(username: string): Promise<Record<string, string>> {
  return { 'vestibule-session': cookiesOf(await portal.signIn(username, testPassword))['vestibule-session'] ?? '' };
}

describe.each(['app', 'email'] as const)('a user whose customer requires the second factor by %s', (kind) => {
  const username = `${kind}-user`;
  const flag: Record<string, string> = kind === 'email' ? { codeSentViaEmail: 'true' } : {};

  it('lands on the registration, with its destination kept', async () => {
    const form = { username, password: testPassword, redirectURL: '/portal/portal.html?x=1' };
    const answer = await portal.signIn(username, testPassword, { form });
    expect(answer.headers.location).toBe(registration({ redirectURL: '/portal/portal.html?x=1', ...flag }));
    expect(await portal.sql`select event from audit_event order by id desc limit 1`).toEqual([
      { event: 'second-factor-asked' },
    ]);
  });

  it('even if another customer of the user requires none', async () => {
    const answer = await portal.signIn(`${kind}-too`, testPassword);
    expect(answer.headers.location).toBe(registration({ redirectURL: '/portal/portal.html', ...flag }));
  });

  it('SE-02 opens nothing with it, and is sent back to the second factor', async () => {
    const cookies = await halfSession(username);
    expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(401);
    const hub = await portal.send({ url: '/portal/portal.html?x=1', cookies });
    expect([hub.statusCode, hub.body]).toEqual([302, '']);
    expect(await landing('/portal/portal.html?x=1', cookies)).toBe(
      registration({ redirectURL: '/portal/portal.html?x=1', ...flag }),
    );
    for (const url of ['/portal/', '/portal/login']) expect((await portal.send({ url, cookies })).statusCode).toBe(200);
  });

  it('it ends the browser’s earlier full session', async () => {
    const full = cookiesOf(await portal.signIn('alice', testPassword));
    const cookies = { 'vestibule-session': full['vestibule-session'] ?? '' };
    await portal.signIn(username, testPassword, { cookies });
    expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(401);
  });
});
