import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#server/testing/accounts-for-test.ts';
import {
  cookiesOf,
  type PortalForTest,
  portalForTest,
  testAddress,
  testPassword,
} from '#server/testing/portal-for-test.ts';
import { auditEvents, refusalReasons } from './audit-events.ts';

let portal: PortalForTest;
beforeAll(async () => {
  portal = await portalForTest();
  await addAttackFixtures(portal);
});
beforeEach(async () => {
  await portal.sql`truncate audit_event, throttle`;
});
afterAll(() => portal.close());

async function events() {
  return await portal.sql`
    select e.event, e.reason, e.username, u.username as account, host(e.address) as address, e.at, e.request_id, e.reference,
      e.steps::text as steps
    from audit_event e left join portal_user u on u.id = e.user_id order by e.id`;
}

/** Events that came of one request, without what differs by chance. */
async function recorded(request: () => Promise<unknown>): Promise<unknown[]> {
  await portal.sql`truncate audit_event`;
  await request();
  const rows = await events();
  for (const { at, address, request_id } of rows) {
    expect(at).toEqual(portal.deps.now());
    expect(address).toBe(testAddress);
    expect(request_id).toMatch(/^[0-9a-f-]{36}$/);
  }
  return rows.map(({ event, reason, username, account }) => [event, reason, username, account]);
}

const refused = (reason: string, name: string | null) => [['sign-in-refused', reason, name, name]];

describe('LG-05 what is recorded', () => {
  it('LG-05 of every way a sign-in ends: what, why, who, from where, when', async () => {
    const signIn = (name: string, password = 'wrong') => recorded(() => portal.signIn(name, password));
    expect(await signIn('bob', testPassword)).toEqual([['signed-in', null, 'bob', 'bob']]);
    expect(await signIn('BOB@acme.test')).toEqual(refused('wrong-password', 'bob'));
    expect(await signIn("' or 1=1--")).toEqual(refused('unknown-user', null));
    expect(await signIn('dave', testPassword)).toEqual(refused('inactive', 'dave'));
    expect(await signIn('erin', testPassword)).toEqual(refused('no-customer', 'erin'));
    expect(await signIn('sso-only', testPassword)).toEqual(refused('no-password', 'sso-only'));
    expect(await signIn('carol', testPassword)).toEqual(refused('network', 'carol'));
    for (let guess = 0; guess < 6; guess += 1) await signIn('alice', `guess ${guess}`);
    expect(await signIn('alice', testPassword)).toEqual(refused('throttled-account', 'alice'));
  });

  it('LG-05 a refusal carries the reference that the visitor sees, and the steps that led to it', async () => {
    const answer = await portal.signIn('dave', testPassword);
    const [event] = await events();
    const notice = cookiesOf(answer)['vestibule-refusal'] ?? '';
    const { reference } = JSON.parse(Buffer.from(notice, 'base64url').toString()) as { reference: string };
    expect(event?.reference).toBe(reference);
    expect(JSON.parse(event?.steps as string)).toContainEqual({ step: 'active', outcome: 'no' });
  });

  it('LG-05 CS-01 of a request from another site, a refused destination and a sign-out', async () => {
    const headers = { origin: 'https://evil.example' };
    expect(await recorded(() => portal.signIn('bob', testPassword, { headers }))).toEqual([
      ['request-refused', null, null, null],
    ]);
    const [{ steps } = { steps: '' }] = await events();
    expect(steps).toContain('POST /portal/performlogin from https://evil.example');
    const redirectURL = 'https://evil.example/';
    const form = { username: 'bob', password: testPassword, redirectURL };
    const rows = await recorded(() => portal.send({ method: 'POST', url: '/portal/performlogin', form }));
    expect(rows.map((row) => (row as string[])[0])).toEqual(['signed-in', 'destination-refused']);
    const cookies = cookiesOf(await portal.signIn('bob', testPassword));
    expect(await recorded(() => portal.send({ method: 'POST', url: '/portal/logout', cookies }))).toEqual([
      ['signed-out', null, 'bob', 'bob'],
    ]);
  });

  it('LG-05 a flood leaves one line a minute, not one a request', async () => {
    const headers = { origin: 'https://evil.example' };
    for (let count = 0; count < 20; count += 1)
      await portal.signIn('bob', 'x', { headers, from: `2001:db8::${count}` });
    expect(await events()).toHaveLength(1);
    portal.wait(61_000);
    await portal.signIn('bob', 'x', { headers, from: '2001:db8::1' });
    expect(await events()).toHaveLength(2);
  });

  it('LG-05 every event and reason is told apart and explained', () => {
    for (const meaning of [...Object.values(auditEvents), ...Object.values(refusalReasons)])
      expect(meaning).toMatch(/^[A-Z].*\.$/);
  });
});
