import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { freePort } from '#testing/free-port.ts';
import { type LogoutHub, logoutHubForTest } from '#testing/logout-hub-for-test.ts';
import { configFrom, cookiesOf, type PortalForTest, portalForTest, testPassword } from '#testing/portal-for-test.ts';
import { changeUser } from '../accounts/change-user.ts';
import { removeUser } from '../accounts/remove-user.ts';
import { signOutUser } from '../accounts/sign-out-user.ts';
import { rollHubKeys } from '../hub/roll-hub-keys.ts';
import { day, hour, minute, second } from '../limits.ts';
import { connect } from '../storage/connect.ts';
import { takeOnHubLogout, updateHubReceivers } from '../storage/hub-logout.ts';
import { keepHouse } from '../upkeep/housekeeping.ts';
import { hubLogoutLanes } from '../upkeep/workers.ts';
import { startWorker } from '../worker.ts';
import { hubLogoutsWaiting } from './give-up-telling.ts';
import { hubAwayFirstPause, hubLogoutFirstWait, hubLogoutTakenOnFor, hubTelling } from './tell-hubs.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';

let portal: PortalForTest;
let crm: LogoutHub;
let reports: LogoutHub;
let origin: string;
beforeAll(async () => {
  crm = await logoutHubForTest('crm');
  reports = await logoutHubForTest('reports', 'EdDSA');
  const silent = { ...crm.audience, name: 'silent', logoutUrl: null };
  const port = await freePort();
  origin = `http://localhost:${port}`;
  const config = configFrom({ PUBLIC_URL: origin });
  portal = await portalForTest({ ...config, hubAudiences: [silent, crm.audience, reports.audience] });
  await portal.app.listen({ host: '127.0.0.1', port });
  await addAttackFixtures(portal);
});
afterAll(async () => {
  await portal.close();
  await Promise.all([crm.close(), reports.close()]);
});
beforeEach(async () => {
  await emptyTables(portal, 'session', 'hub_logout', 'hub_receiver', 'audit_event', 'throttle');
  await updateHubReceivers(portal.sql, ['crm', 'reports']);
  for (const hub of [crm, reports]) {
    hub.tokens.length = 0;
    hub.answers(200);
  }
});

/** A browser that is signed in: its cookies, and what a hub has been told of it. */
async function signIn(username = 'alice') {
  const { 'vestibule-session': session = '' } = cookiesOf(await portal.signIn(username, testPassword));
  const cookies = { 'vestibule-session': session };
  const answer = await portal.send({ url: '/portal/session?audience=crm', cookies });
  const { sub, sid } = decodeJwt(String(answer.headers['x-vestibule-token']));
  return { cookies, sub, sid };
}

async function tellAll(of = portal): Promise<void> {
  const tell = hubTelling(of.deps);
  while ((await tell()) === 'more');
}

/** What a token says, verified as a hub does: by the keys at the portal's address. */
async function verified(token: string | undefined, audience = 'crm') {
  const keys = createRemoteJWKSet(new URL(`${origin}/.well-known/jwks.json`));
  const currentDate = portal.deps.now();
  const expected = { issuer: `${origin}/portal`, audience, typ: 'logout+jwt', currentDate };
  return (await jwtVerify(token ?? '', keys, expected)).payload;
}

const toldSids = ({ tokens }: LogoutHub) => tokens.map((token) => decodeJwt(token).sid).sort();
const waiting = async () => (await portal.sql`select from hub_logout`).length;
const signOut = (cookies: Record<string, string>) =>
  portal.send({ url: '/portal/logout', headers: { 'sec-fetch-site': 'same-origin' }, cookies });

it('a sign-out reaches every hub as a logout token that it can verify', async () => {
  const { cookies, sub, sid } = await signIn();
  await signOut(cookies);
  await tellAll();
  expect([crm.tokens.length, reports.tokens.length]).toEqual([1, 1]);
  const iat = portal.deps.now().getTime() / 1000;
  const claims = await verified(crm.tokens[0]);
  expect(claims).toEqual({
    ...{ iss: `${origin}/portal`, aud: 'crm', sub, sid, iat, exp: iat + 120 },
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    events: { [event]: {} },
  });
  expect((await verified(reports.tokens[0], 'reports')).sid).toBe(sid);
  await expect(verified(reports.tokens[0], 'crm')).rejects.toThrow('"aud"');
  expect(await waiting()).toBe(0);
});

async function untilItEnds(): Promise<void> {
  portal.wait(12 * hour);
  await keepHouse(portal.deps);
}

describe('whatever ends a session, its hubs are told', () => {
  const { now } = { now: () => portal.deps.now() };
  it.each([
    ['vestibule user sign-out', () => signOutUser(portal.sql, 'alice', now())],
    ['a user made inactive', () => changeUser(portal.sql, 'alice', { active: false }, now())],
    ['another password', () => changeUser(portal.sql, 'alice', { passwordHash: 'another' }, now())],
    ['a user removed', () => removeUser(portal.sql, 'alice', now())],
    ['its time', untilItEnds],
  ])('%s', async (_what, end) => {
    await removeUser(portal.sql, 'alice', now());
    await addUser(portal, { username: 'alice' });
    await emptyTables(portal, 'hub_logout');
    const browsers = [await signIn(), await signIn()];
    await signIn('bob');
    await portal.sql`update session set last_seen_at = ends_at, ends_at = ends_at + interval '1 day'
      where user_id <> ${browsers[0]?.sub ?? ''}`;
    await end();
    await tellAll();
    for (const hub of [crm, reports]) expect(toldSids(hub)).toEqual(browsers.map(({ sid }) => sid).sort());
  });

  it('a sign-in that replaces another person’s session', async () => {
    const { cookies, sid } = await signIn();
    await portal.signIn('bob', testPassword, { cookies });
    await tellAll();
    expect(toldSids(crm)).toEqual([sid]);
  });

  it('nothing is said of a sign-in that never got through', async () => {
    const { sid } = await signIn();
    await portal.sql`update session set stage = 'half', waits_for = '{app}' where id = ${String(sid)}`;
    await portal.sql`delete from session`;
    expect(await waiting()).toBe(0);
  });
});

it('an end that is rolled back is told to nobody', async () => {
  await signIn();
  await portal.sql
    .begin(async (sql) => {
      await sql`delete from session`;
      throw new Error('not after all');
    })
    .catch(() => {});
  expect(await waiting()).toBe(0);
});

describe('a hub that is down', () => {
  it.each([0, 500, 503, 302, 429])('and answers %s is told once it is back, and others meanwhile', async (status) => {
    crm.answers(status);
    const sids = [];
    for (const { cookies, sid } of [await signIn(), await signIn()]) {
      sids.push(sid);
      await signOut(cookies);
    }
    await tellAll();
    expect([crm.tokens.length, reports.tokens.length]).toEqual([1, 2]);
    await tellAll();
    expect(crm.tokens).toHaveLength(1);
    portal.wait(hubAwayFirstPause);
    crm.answers(200);
    crm.tokens.length = 0;
    await tellAll();
    expect(toldSids(crm)).toEqual(sids.sort());
    expect(reports.tokens).toHaveLength(2);
    expect(await waiting()).toBe(0);
  });

  it('is asked less and less often, at most once a minute, and all over once it has answered', async () => {
    crm.answers(0);
    await signOut((await signIn()).cookies);
    const pauses = [];
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      await tellAll();
      expect(crm.tokens).toHaveLength(attempt);
      const pause = async () => {
        const [row] = await portal.sql<{ at: Date }[]>`select paused_until as at from hub_receiver where failures > 0`;
        return (row?.at.getTime() ?? 0) - portal.deps.now().getTime();
      };
      pauses.push((await pause()) / second);
      portal.wait((await pause()) - 1);
      await tellAll();
      expect(crm.tokens).toHaveLength(attempt);
      portal.wait(1);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    crm.answers(200);
    await tellAll();
    expect(await portal.sql`select from hub_receiver where failures > 0`).toHaveLength(0);
  });

  it('for a day is given up, which is recorded once', async () => {
    crm.answers(503);
    for (const { cookies } of [await signIn(), await signIn()]) await signOut(cookies);
    await tellAll();
    portal.wait(day - 1);
    await keepHouse(portal.deps);
    expect(await waiting()).toBe(2);
    portal.wait(1);
    await keepHouse(portal.deps);
    await keepHouse(portal.deps);
    expect(await waiting()).toBe(0);
    const events = await portal.sql`select steps from audit_event where event = 'hub-logout-given-up'`;
    expect(events.map(({ steps }) => steps)).toEqual([
      [
        { step: 'hub', outcome: 'crm' },
        { step: 'ended sessions', outcome: '2' },
        { step: 'last problem', outcome: 'the hub answers 503' },
      ],
    ]);
  });

  it('does not fill the database: of too many the oldest are given up', async () => {
    // In parts: on a busy machine all of them at once take longer than a statement may.
    for (const count of [3, ...Array<number>(10).fill(hubLogoutsWaiting / 10)])
      await portal.sql`
        insert into hub_logout (audience, sid, user_id)
        select 'crm', gen_random_uuid(), gen_random_uuid() from generate_series(1, ${count})`;
    const [newest] = await portal.sql<{ id: string }[]>`select max(id)::text as id from hub_logout`;
    await keepHouse(portal.deps);
    expect(await waiting()).toBe(hubLogoutsWaiting);
    const [kept] = await portal.sql<{ id: string }[]>`select max(id)::text as id from hub_logout`;
    expect(kept).toEqual(newest);
  });
});

it('what a hub refuses is sent again at growing intervals, and holds nothing else up', async () => {
  crm.answers(400);
  const [first, second] = [await signIn(), await signIn()];
  await signOut(first.cookies);
  await tellAll();
  expect(crm.tokens).toHaveLength(1);
  crm.answers(200);
  await signOut(second.cookies);
  await tellAll();
  expect(toldSids(crm)).toEqual([first.sid, second.sid].sort());
  expect(await waiting()).toBe(1);
  portal.wait(hubLogoutFirstWait);
  await tellAll();
  expect(await waiting()).toBe(0);
  // Each attempt has a name of its own.
  expect(new Set(crm.tokens.map((token) => decodeJwt(token).jti)).size).toBe(3);
});

it('two instances with several lanes tell each hub once', async () => {
  const browsers = await Promise.all(Array.from({ length: 30 }, () => signIn()));
  const pool = connect(portal.database.place);
  const other = await portalForTest(portal.deps.config, portal, { sql: pool });
  await portal.sql`delete from session`;
  other.wait(portal.deps.now().getTime() - other.deps.now().getTime());
  const workers = [portal, other].map(({ deps }) =>
    startWorker({
      name: 'telling',
      work: hubTelling(deps),
      lookEvery: 10,
      lanes: hubLogoutLanes,
      log: deps.log,
    }),
  );
  await expect.poll(waiting, { timeout: 10_000 }).toBe(0);
  await Promise.all(workers.map(({ stop }) => stop()));
  await other.close();
  await pool.end();
  for (const hub of [crm, reports]) expect(toldSids(hub)).toEqual(browsers.map(({ sid }) => sid).sort());
});

it('what one instance is just claiming is left to it', async () => {
  await signOut((await signIn()).cookies);
  const now = portal.deps.now();
  const by = { audiences: ['crm'], now, until: new Date(now.getTime() + minute) };
  await portal.sql.begin(async (sql) => {
    expect(await takeOnHubLogout(sql, by)).toMatchObject({ audience: 'crm', tries: 1 });
    expect(await takeOnHubLogout(portal.sql, by)).toBeNull();
  });
  expect(await takeOnHubLogout(portal.sql, by)).toBeNull();
});

it('an instance that dies while it tells a hub leaves it to another', async () => {
  const { cookies, sid } = await signIn();
  await signOut(cookies);
  await portal.sql`update hub_logout set send_after = ${new Date(portal.deps.now().getTime() + minute)}`;
  await tellAll();
  expect(crm.tokens).toEqual([]);
  portal.wait(hubLogoutTakenOnFor);
  await tellAll();
  expect(toldSids(crm)).toEqual([sid]);
});

it('tokens that wait while the keys are replaced are signed by the new ones', async () => {
  crm.answers(0);
  const { cookies, sid } = await signIn();
  await signOut(cookies);
  await tellAll();
  await rollHubKeys(portal.deps, { atOnce: true });
  crm.answers(200);
  portal.wait(minute);
  await tellAll();
  expect((await verified(crm.tokens.at(-1))).sid).toBe(sid);
  await expect(verified(crm.tokens[0])).rejects.toThrow('no applicable key');
});

it('an address outside the listed networks is never asked', async () => {
  const inside = await logoutHubForTest('crm', 'ES256', { networks: ['192.0.2.0/24'] });
  const other = await portalForTest({ hubAudiences: [inside.audience] }, portal);
  await signOut((await signIn()).cookies);
  other.wait(portal.deps.now().getTime() - other.deps.now().getTime());
  await tellAll(other);
  expect(inside.tokens).toEqual([]);
  expect(other.logs()).toContain('neither public nor in logoutNetworks');
  await other.close();
  await inside.close();
});

it('a hub that is no longer configured is dropped with what waits for it, and a new one begins with nothing', async () => {
  await signOut((await signIn()).cookies);
  await updateHubReceivers(portal.sql, ['reports', 'new']);
  expect(await portal.sql`select audience from hub_logout`).toEqual([{ audience: 'reports' }]);
  await updateHubReceivers(portal.sql, []);
  await signOut((await signIn()).cookies);
  expect(await waiting()).toBe(0);
});
