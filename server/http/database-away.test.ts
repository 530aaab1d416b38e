import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenPaths } from '#contract/screens.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { startWorkers } from '../operations/workers.ts';

let database: DatabaseForTest;
let wire: CuttableDatabase;
let portal: PortalForTest;
let cookies: Record<string, string>;
beforeAll(async () => {
  database = await databaseForTest();
  wire = await cuttableDatabase(database);
  portal = await portalForTest({}, { database }, { sql: wire.sql });
  await addAttackFixtures(portal);
  cookies = cookiesOf(await portal.signIn('bob', testPassword));
});
afterAll(async () => {
  await portal.close();
  await wire.close();
  await database.close();
});

describe('with the database down', () => {
  it('every page still loads, for visitors and signed-in users', async () => {
    wire.cut();
    for (const path of ['', '/', ...Object.values(screenPaths), '/loginfail/ip?ipaddress=192.0.2.1'])
      for (const sent of [{}, cookies]) {
        const { statusCode, headers } = await portal.send({ url: `/portal${path}`, cookies: sent });
        // Without a cookie no code is pending, which needs no database.
        const isNobodys = sent !== cookies && path.startsWith('/twoFactor');
        expect([path, statusCode, headers.location]).toEqual(
          isNobodys ? [path, 302, '/portal/login'] : [path, 200, undefined],
        );
      }
    expect((await portal.send({ url: '/healthz' })).statusCode).toBe(200);
    expect((await portal.send({ url: '/portal/portal.html' })).statusCode).toBe(302);
  });

  it('the forms say so before the attempt, also to a visitor without cookies, and no more once it is back', async () => {
    wire.mend();
    const stops = startWorkers({ ...portal.deps, log: portal.deps.log });
    const notice = 'class="alert bad"';
    const forms = ['', '/login', '/login?destination=%2Fportal%2Fx', '/singleSignOn', '/forgotten'];
    const said = async (sent: Record<string, string>) =>
      await Promise.all(
        forms.map(async (path) => (await portal.send({ url: `/portal${path}`, cookies: sent })).body.includes(notice)),
      );
    expect(await said({})).toEqual(forms.map(() => false));
    wire.cut();
    await expect.poll(() => said({}), { timeout: 10_000 }).toEqual(forms.map(() => true));
    expect(await said(cookies)).toEqual(forms.map(() => true));
    const page = await portal.send({ url: '/portal/login?destination=%2Fportal%2Fx' });
    expect(page.body).toMatch(/<input type="hidden" name="redirectURL" value="\/portal\/x"/);
    wire.mend();
    await expect.poll(() => said({}), { timeout: 10_000 }).toEqual(forms.map(() => false));
    const reloaded = await portal.send({ url: '/portal/login?destination=%2Fportal%2Fx&notice=unavailable' });
    expect([reloaded.statusCode, reloaded.headers.location]).toEqual([302, '/portal/login?destination=%2Fportal%2Fx']);
    await stops.stop();
  });

  it('what needs it is answered 503 within seconds with Retry-After, and lets nobody in', async () => {
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
    expect(performance.now() - started).toBeLessThan(15_000);
    expect((await portal.send({ url: '/readyz' })).statusCode).toBe(503);
    const foreign = await portal.signIn('bob', testPassword, { headers: { origin: 'https://evil.example' } });
    expect(foreign.statusCode).toBe(403);
    expect(portal.logs()).not.toContain(testPassword);
  });

  it('a database that goes silent during a statement gets an answer, and works again once disconnected', async () => {
    wire.mend();
    expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(200);
    // The address of a form that came back says what is over.
    expect((await portal.send({ url: '/portal/login?notice=unavailable' })).headers.location).toBe('/portal/login');
    wire.silence();
    const answer = await portal.signIn('bob', testPassword, { headers: { accept: 'application/json' } });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
    expect(answer.headers['content-security-policy']).toBeTruthy();
    wire.mend();
    expect((await portal.send({ url: '/readyz' })).statusCode).toBe(200);
  });
});
