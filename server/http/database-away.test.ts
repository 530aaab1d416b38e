import type { Response } from 'light-my-request';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenPaths } from '#contract/screens.ts';
import { addAttackFixtures } from '#server/testing/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#server/testing/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#server/testing/database-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#server/testing/portal-for-test.ts';
import {
  askForReset,
  changedPage,
  changeTo,
  hiddenHash,
  linkFor,
  newPassword,
  storedHash,
} from '#server/testing/reset-for-test.ts';

let database: DatabaseForTest;
let wire: CuttableDatabase;
let portal: PortalForTest;
let cookies: Record<string, string>;
beforeAll(async () => {
  database = await databaseForTest();
  wire = await cuttableDatabase(database);
  const made = await portalForTest({});
  portal = await portalForTest({}, { ...made, database }, { sql: wire.sql });
  await made.close();
  await addAttackFixtures(portal);
  cookies = cookiesOf(await portal.signIn('bob', testPassword));
});
afterAll(async () => {
  await portal.close();
  await wire.close();
  await database.close();
});

describe('with the database away', () => {
  it('every page still loads, for visitors and for people who are signed in', async () => {
    wire.cut();
    for (const path of ['', '/', ...Object.values(screenPaths), '/loginfail/ip?ipaddress=192.0.2.1'])
      for (const sent of [{}, cookies])
        expect((await portal.send({ url: `/portal${path}`, cookies: sent })).statusCode, path).toBe(200);
    expect((await portal.send({ url: '/healthz' })).statusCode).toBe(200);
    expect((await portal.send({ url: '/portal/portal.html' })).statusCode).toBe(302);
  });

  it('what needs it is answered 503 within seconds, says when to try again, and lets nobody in', async () => {
    wire.cut();
    const started = performance.now();
    const requests = [
      () => portal.signIn('bob', testPassword, { headers: { 'accept-language': 'de' } }),
      () => portal.send({ url: '/portal/session', cookies }),
      () => portal.send({ url: '/portal/portal.html', cookies }),
      () => portal.send({ method: 'POST', url: '/portal/logout', cookies }),
    ];
    for (const request of requests) {
      const answer = await request();
      expect(answer.statusCode).toBe(503);
      expect(answer.headers['retry-after']).toBe('5');
      expect(answer.cookies).toEqual([]);
    }
    expect(performance.now() - started).toBeLessThan(5000);
    const page = await requests[0]?.();
    expect(page?.body).toContain('<html lang="de">');
    expect(page?.body).toContain('href="/portal/login');
    const problem = await portal.signIn('bob', testPassword, { headers: { accept: 'application/json' } });
    expect(problem.json()).toEqual({ type: 'about:blank', title: 'Temporarily not available', status: 503 });
    expect((await portal.send({ url: '/readyz' })).statusCode).toBe(503);
    const foreign = await portal.signIn('bob', testPassword, { headers: { origin: 'https://evil.example' } });
    expect(foreign.statusCode).toBe(403);
    expect(portal.logs()).not.toContain(testPassword);
  });

  it('a forgotten or a new password is answered 503 with the form as it was filled in, and nothing happens later', async () => {
    wire.mend();
    const token = await linkFor({ ...portal, sql: database.sql }, 'alice');
    const hash = await storedHash({ ...portal, sql: database.sql }, 'alice');
    wire.cut();
    const posts = [
      (more: object = {}) => askForReset(portal, 'alice@acme.test', more),
      (more: object = {}) => changeTo(portal, token, newPassword, more),
    ] as const;
    const pages = [await posts[0](), await posts[1]()];
    for (const page of pages) expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '5']);
    expect(pages[0]?.body).toMatch(/<form[^>]*action="\/portal\/password\/forgotten"/);
    expect(pages[0]?.body).toMatch(/<input[^>]*name="username"[^>]*value="alice@acme.test"/);
    expect(pages[1]?.body).toMatch(/<form[^>]*action="\/portal\/password\/change"/);
    expect(hiddenHash(pages[1] as Response)).toBe(token);
    expect(pages[1]?.body).not.toContain(newPassword);
    const inGerman = await posts[1]({ url: '/portal/password/change?lang=de' });
    expect(inGerman.body).toContain('<html lang="de">');
    for (const post of posts) {
      const problem = await post({ headers: { accept: 'application/json' } });
      expect([problem.statusCode, problem.headers['retry-after']]).toEqual([503, '5']);
      expect(problem.json()).toEqual({ type: 'about:blank', title: 'Temporarily not available', status: 503 });
    }
    for (const sent of [{}, { 'vestibule-reset': token }]) {
      const page = await portal.send({ url: `/portal/forgottenChange?hash=${token}`, cookies: sent });
      expect([page.statusCode, hiddenHash(page)]).toEqual([200, token]);
    }
    wire.mend();
    await portal.workOff();
    expect(portal.mails).toHaveLength(0);
    expect(await storedHash({ ...portal, sql: database.sql }, 'alice')).toBe(hash);
    expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
    expect((await askForReset(portal, 'alice@acme.test')).headers.location).toBe('/portal/emailInfo');
  });

  it('all works again by itself once it is back, with the session that was there', async () => {
    wire.cut();
    expect((await portal.signIn('bob', testPassword)).statusCode).toBe(503);
    wire.mend();
    expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(200);
    expect((await portal.send({ url: '/readyz' })).statusCode).toBe(200);
    expect((await portal.signIn('bob', testPassword)).headers.location).toBe('/portal/portal.html');
  });

  it('a database that goes silent in the middle of a statement is answered for, and works again once cut off', async () => {
    const other = await portalForTest(
      {},
      { ...portal, database },
      { sql: wire.sql, timeouts: { handlerTimeout: 300 } },
    );
    expect((await other.send({ url: '/portal/session', cookies })).statusCode).toBe(200);
    wire.silence();
    const answer = await other.signIn('bob', testPassword, { headers: { accept: 'application/json' } });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
    expect(answer.headers['content-security-policy']).toBeTruthy();
    wire.mend();
    expect((await other.send({ url: '/readyz' })).statusCode).toBe(200);
    await other.close();
  });
});
