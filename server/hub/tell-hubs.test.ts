import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addUser } from '#test/support/accounts-for-test.ts';
import { freePort } from '#test/support/free-port.ts';
import { type LogoutHub, logoutHubForTest } from '#test/support/hub-for-test.ts';
import {
  configFrom,
  cookiesOf,
  type PortalForTest,
  portalForTest,
  testPassword,
} from '#test/support/portal-for-test.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { removeUser, signOutUser } from '../accounts/act-on-user.ts';
import { changeUser } from '../accounts/users.ts';
import { jobFirstWait, jobsOf } from '../jobs/job.ts';
import { day, hour } from '../limits.ts';
import { keepHouse } from '../operations/housekeeping.ts';
import { hubQueue, hubsToTell, updateHubReceivers } from './tell-hubs.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';

let portal: PortalForTest;
let crm: LogoutHub;
let reports: LogoutHub;
let origin: string;
beforeAll(async () => {
  crm = await logoutHubForTest('crm');
  reports = await logoutHubForTest('reports');
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
  await emptyTables(portal, 'session', 'job', 'hub_receiver', 'audit_event', 'throttle');
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
  for (const hub of hubsToTell(of.deps.config)) {
    const tell = jobsOf(of.deps, hubQueue(of.deps, hub));
    while ((await tell()) === 'more');
  }
}

/** What a token says, verified as a hub does: by the keys at the portal's address. */
async function verified(token: string | undefined, audience = 'crm') {
  const keys = createRemoteJWKSet(new URL(`${origin}/.well-known/jwks.json`));
  const currentDate = portal.deps.now();
  const expected = { issuer: `${origin}/portal`, audience, typ: 'logout+jwt', currentDate };
  return (await jwtVerify(token ?? '', keys, expected)).payload;
}

const toldSids = ({ tokens }: LogoutHub) => tokens.map((token) => decodeJwt(token).sid).sort();
const waiting = async () => (await portal.sql`select from job where queue like 'hub-logout %'`).length;
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
  it.each([
    ['vestibule user sign-out', () => signOutUser(portal.sql, 'alice', portal.by())],
    ['a user made inactive', () => changeUser(portal.sql, 'alice', { active: false }, portal.by())],
    ['another password', () => changeUser(portal.sql, 'alice', { passwordHash: 'another' }, portal.by())],
    ['a user removed', () => removeUser(portal.sql, 'alice', portal.by())],
    ['its time', untilItEnds],
  ])('%s', async (_what, end) => {
    await removeUser(portal.sql, 'alice', portal.by());
    await addUser(portal, { username: 'alice' });
    await emptyTables(portal, 'job');
    const browsers = [await signIn(), await signIn()];
    await signIn('bob');
    await portal.sql`update session set last_seen_at = ends_at, ends_at = ends_at + interval '1 day'
      where user_id <> ${browsers[0]?.sub ?? ''}`;
    await end();
    await tellAll();
    for (const hub of [crm, reports]) expect(toldSids(hub)).toEqual(browsers.map(({ sid }) => sid).sort());
  });
});

describe('a hub that is down', () => {
  it.each([0, 302, 429, 503])('and answers %s is told once it is back, and others meanwhile', async (status) => {
    crm.answers(status);
    const sids = [];
    for (const { cookies, sid } of [await signIn(), await signIn()]) {
      sids.push(sid);
      await signOut(cookies);
    }
    await tellAll();
    expect([crm.tokens.length, reports.tokens.length]).toEqual([1, 2]);
    portal.wait(jobFirstWait);
    crm.answers(200);
    crm.tokens.length = 0;
    await tellAll();
    expect(toldSids(crm)).toEqual(sids.sort());
    expect(reports.tokens).toHaveLength(2);
    expect(await waiting()).toBe(0);
  });

  it('for a day is given up, which is recorded once', async () => {
    crm.answers(503);
    for (const { cookies } of [await signIn(), await signIn()]) await signOut(cookies);
    await tellAll();
    await portal.sql`update job set made_at = ${portal.deps.now()}`;
    portal.wait(day - 1);
    await tellAll();
    expect(await waiting()).toBe(2);
    portal.wait(jobFirstWait);
    await tellAll();
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
});

it('an address outside the listed networks is never asked', async () => {
  const inside = await logoutHubForTest('crm', { networks: ['192.0.2.0/24'] });
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
  expect(await portal.sql`select queue from job`).toEqual([{ queue: 'hub-logout reports' }]);
  await updateHubReceivers(portal.sql, []);
  await signOut((await signIn()).cookies);
  expect(await waiting()).toBe(0);
});
