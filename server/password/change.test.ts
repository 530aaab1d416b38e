import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#server/testing/accounts-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#server/testing/portal-for-test.ts';
import { askForLink, changeTo, tokenIn } from '#server/testing/reset-for-test.ts';

let portal: PortalForTest;
beforeAll(async () => {
  portal = await portalForTest();
});
afterAll(() => portal.close());
beforeEach(async () => {
  await portal.sql`truncate customer, portal_user, session, device, throttle, reset_link, mail, reset_request, audit_event cascade`;
  portal.mails.length = 0;
  await addAttackFixtures(portal);
});

const newPassword = 'Harbour-Lantern-77';
const failed = (reason: number) => `/portal/forgottenChangeFailedInfo?reason=${reason}`;

describe('a password is changed by a link', () => {
  it('from the request to the sign-in with the new one; the old one and everything that hung on it are dead', async () => {
    const before = cookiesOf(await portal.signIn('alice', testPassword));
    const asked = await portal.send({
      method: 'POST',
      url: '/portal/password/forgotten',
      form: { username: 'alice@acme.test' },
    });
    expect(asked.statusCode).toBe(303);
    expect(asked.headers.location).toBe('/portal/emailInfo');
    await portal.workOff();
    expect(portal.mails).toMatchObject([{ recipient: 'alice@acme.test' }]);
    const token = tokenIn(portal.mails[0]);
    const changed = await changeTo(portal, token, newPassword);
    expect(changed.statusCode).toBe(303);
    expect(changed.headers.location).toBe('/portal/forgottenChangedInfo');
    expect(cookiesOf(changed)['vestibule-session']).toBeUndefined();
    expect((await portal.send({ url: '/portal/session', cookies: before })).statusCode).toBe(401);
    expect((await portal.signIn('alice', testPassword)).headers.location).toBe('/portal/loginfail/default');
    expect((await portal.signIn('alice', newPassword)).headers.location).toBe('/portal/portal.html');
    await portal.workOff();
    expect(portal.mails).toHaveLength(2);
  });

  it('PR-02 a link works once', async () => {
    const token = await askForLink(portal, 'alice');
    expect((await changeTo(portal, token, newPassword)).headers.location).toBe('/portal/forgottenChangedInfo');
    expect((await changeTo(portal, token, newPassword)).headers.location).toBe(failed(3));
    expect((await changeTo(portal, token, 'Another-Harbour-78')).headers.location).toBe(failed(3));
  });
});
