import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForKey,
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  pageOf,
  registerApp,
  registrationUrl,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';
import { keepHouse } from '../operations/housekeeping.ts';

let cookies: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  cookies = await halfSession(portal, 'alice');
});

const ask = (held: Browser, headers: Record<string, string> = {}, query = '') =>
  askForKey(portal, held, { url: registrationUrl + query, headers: { accept: 'application/json', ...headers } });
const secretOf = async (held: Browser) => (await ask(held)).json<{ totpSecret: string }>().totpSecret;
const pending = async () => (await portal.sql`select from pending_totp`).length;

/** Expects that nothing is shown and no secret is created. */
async function expectRefused(status: number, held: Browser, headers: Record<string, string> = {}): Promise<void> {
  const before = await portal.sql`select * from pending_totp`;
  const answer = await ask(held, headers);
  expect(answer.statusCode).toBe(status);
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(answer.body).not.toMatch(/[A-Z2-7]{32}|otpauth|data:/);
  expect(await portal.sql`select * from pending_totp`).toEqual(before);
}

describe('what an app is registered with', () => {
  it('MF-18 is a secret of 160 bits and an image, not to be cached, and nothing else', async () => {
    const answer = await ask(cookies);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(Object.keys(answer.json()).sort()).toEqual(['totpSecret', 'url']);
    expect(answer.json().totpSecret).toMatch(/^[A-Z2-7]{32}$/);
    expect(answer.json().url).toMatch(/^data:image\/png;base64,[A-Za-z0-9+/]+=*$/);
  });

  it('MF-11 stays the same after reloads, on the page too, and differs in another half session', async () => {
    const first = await ask(cookies);
    portal.wait(limits.halfSession - 1000);
    expect((await ask(cookies)).json()).toEqual(first.json());
    const page = await pageOf(portal, { url: '/portal/twoFactorRegistration', cookies });
    expect(page.registration).toEqual(first.json());
    expect(page.secondFactor?.account).toBe('alice');
    const other = await halfSession(portal, 'alice');
    expect(await secretOf(other)).not.toBe(first.json().totpSecret);
    expect(await pending()).toBe(2);
  });

  it('MF-11 is never shown again once it is confirmed, to half or full sessions', async () => {
    const { secret, cookies: full } = await registerApp(portal, cookies);
    await expectRefused(401, cookies);
    await expectRefused(409, full);
    await expectRefused(409, await halfSession(portal, 'alice'));
    const page = await pageOf(portal, { url: '/portal/twoFactorRegistration', cookies: full });
    expect(page).toEqual({ status: 302, location: '/portal/portal.html' });
    expect(await pending()).toBe(0);
    expect(secret).toBeTruthy();
  });

  it('MF-12 is not shown to users who have an app and only entered the password', async () => {
    const secret = await giveApp(portal, 'adam');
    const held = await halfSession(portal, 'adam');
    await expectRefused(409, held);
    const page = await pageOf(portal, {
      url: '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx',
      cookies: held,
    });
    expect(page).toEqual({ status: 302, location: '/portal/twoFactor?redirectURL=%2Fportal%2Fx' });
    expect(await pending()).toBe(0);
    expect(verdict(await verify(portal, codeNow(portal, secret), held))).toBe(true);
    expect(await portal.sql`select from totp`).toHaveLength(1);
  });

  it('MF-13 does not count until confirmed: the next sign-in asks for the registration again', async () => {
    const secret = await secretOf(cookies);
    expect(await portal.sql`select from totp`).toHaveLength(0);
    const again = await portal.signIn('alice', 'Lantern-Harbour-42');
    expect(again.headers.location).toMatch(/^\/portal\/twoFactorRegistration\?/);
    const other = await halfSession(portal, 'alice');
    expect(verdict(await verify(portal, codeNow(portal, secret), other))).toBe(false);
    await secretOf(other);
    expect(verdict(await verify(portal, codeNow(portal, secret), other))).toBe(false);
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies))).toBe(true);
    portal.wait(step);
    expect(await signedInAs(portal, other)).toBeNull();
  });

  it('is not shown while a code by email is pending, or to anyone not signed in (EN-12)', async () => {
    await expectRefused(409, await halfSession(portal, 'bob'));
    await expectRefused(401, {});
    await expectRefused(401, { 'vestibule-session': 'x'.repeat(43) });
    for (const query of ['?username=alice', '?user=alice', '?userId=1', '?token=x']) {
      const [known, unknown] = [await ask({}, {}, query), await ask({}, {}, query.replace('alice', 'nobody'))];
      expect([known.statusCode, known.body]).toEqual([401, unknown.body]);
    }
    for (const end of ['/a.css', '.css', '/x', ';x'])
      expect((await portal.send({ url: registrationUrl + end, cookies })).statusCode, `HD-08 ${end}`).toBe(404);
    expect(await pending()).toBe(0);
  });

  it('CS-16 another site’s page may not request it, and creates none', async () => {
    for (const site of ['cross-site', 'same-site', '', 'x', 'same-origin, cross-site'])
      await expectRefused(403, cookies, {
        'sec-fetch-site': site,
        'sec-fetch-mode': 'no-cors',
        'sec-fetch-dest': 'image',
      });
    expect(await pending()).toBe(0);
    for (const site of ['same-origin', 'none'])
      expect((await ask(cookies, { 'sec-fetch-site': site })).statusCode).toBe(200);
  });

  it('stays the same over a sign-in that was cancelled, in this browser alone', async () => {
    const own = await secretOf(cookies);
    const out = await portal.send({ method: 'POST', url: '/portal/logout', cookies });
    const { 'vestibule-device': device = '' } = { ...cookies, ...cookiesOf(out) };
    portal.wait(limits.halfSession);
    const again = { ...(await halfSession(portal, 'alice')), 'vestibule-device': device };
    // Somebody with the password alone, in another browser, neither sees nor plants it.
    const other = await halfSession(portal, 'alice');
    expect(await secretOf(other)).not.toBe(own);
    const adam = { ...(await halfSession(portal, 'adam')), 'vestibule-device': device };
    expect(await secretOf(adam)).not.toBe(own);
    expect(await secretOf(again)).toBe(own);
    expect(verdict(await verify(portal, codeNow(portal, own), again))).toBe(true);
    expect(
      await portal.sql`select from pending_totp join portal_user u on u.id = user_id where username = 'alice'`,
    ).toEqual([]);
  });

  it('is forgotten once no session could confirm it', async () => {
    await secretOf(cookies);
    portal.wait(limits.pendingApp);
    await keepHouse(portal.deps);
    expect(await pending()).toBe(0);
  });
});

describe('once an app is registered', () => {
  it('a concurrent sign-in waiting for the same registration starts again, and is asked for the code', async () => {
    const other = await halfSession(portal, 'alice');
    await secretOf(other);
    const { secret } = await registerApp(portal, cookies);
    await expectRefused(401, other);
    expect(verdict(await verify(portal, codeNow(portal, secret, 1), other))).toEqual([401, 'signInExpired']);
    const again = await halfSession(portal, 'alice');
    expect(verdict(await verify(portal, codeNow(portal, secret, 1), again))).toBe(true);
  });

  it('what was opened without it ends: earlier sessions, and devices remembered for a weaker factor', async () => {
    await portal.sql`update customer set two_factor = 'off' where key = 'app'`;
    const before = {
      'vestibule-session': (await portal.signIn('alice', 'Lantern-Harbour-42')).cookies[0]?.value ?? '',
    };
    expect(await signedInAs(portal, before)).toBe('alice');
    await portal.sql`update customer set two_factor = 'app' where key = 'app'`;
    await portal.sql`
      insert into remembered_device (token_hash, user_id, address, made_at, last_used_at, ends_at)
      select sha256(username::bytea), id, '192.0.2.1', now(), now(), 'infinity' from portal_user where username in ('alice', 'bob')`;
    const { cookies: full } = await registerApp(portal, cookies);
    expect([await signedInAs(portal, before), await signedInAs(portal, full)]).toEqual([null, 'alice']);
    const left = await portal.sql`select username from remembered_device d join portal_user u on u.id = d.user_id`;
    expect(left).toEqual([{ username: 'bob' }]);
  });
});

it('MF-18 nobody sees another’s key, and no key is compressed together with an address', async () => {
  const keys: string[] = [];
  for (const username of ['alice', 'adam']) {
    const cookies = await halfSession(portal, username);
    keys.push((await secretOf(cookies)).slice(0, 4));
    // The bare address, which is the same for everyone.
    const headers = { 'accept-encoding': 'br, gzip' };
    const page = await portal.send({ url: '/portal/twoFactorRegistration', cookies, headers });
    expect(page.headers['content-encoding']).toBeUndefined();
    expect(page.headers['cache-control']).toContain('no-store');
    for (const [index, key] of keys.entries())
      expect(page.body.includes(`>${key}`), username).toBe(index === keys.length - 1);
  }
  expect(keys[0]).not.toBe(keys[1]);
});
