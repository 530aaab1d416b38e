import { beforeEach, describe, expect, it } from 'vitest';
import { addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { enrolmentOf, newPasskey } from '#test/support/passkey-for-test.ts';
import {
  beginByLink,
  type InvitationOptions,
  postByLink,
  signInWithPasskey,
} from '#test/support/passkey-sign-in-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changeTo, invitationFor, newPassword, startAfresh } from '#test/support/reset-for-test.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';

const portal = portalOfFile({ each: startAfresh });

beforeEach(async () => {
  await addUser(portal, { username: 'grace', passwordHash: null });
  await addUser(portal, { username: 'heidi', passwordHash: null });
});

const done = '/portal/forgottenChangedInfo?invited=passkey';
const failed = '/portal/forgottenChangeFailedInfo?invited=passkey';
const over = '/portal/forgottenChangeFailedInfo?reason=3&invited=passkey';

const landing = async (hash: string) => (await changeTo(portal, hash, newPassword)).headers.location;
const passkeys = () => portal.sql`select from passkey`;
const lastEvent = async () =>
  (await portal.sql`select event, reason, username, reference, steps from audit_event order by id desc limit 1`)[0];

describe('a passkey from an invitation', () => {
  it('is the way in of its person, who then signs in by it; the link is spent, and they are told', async () => {
    const hash = await invitationFor(portal, 'grace');
    const browser = browserForTest(portal);
    const options = (await beginByLink(browser, hash)).json<InvitationOptions>();
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: { name: 'grace' },
      excludeCredentials: [],
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const passkey = newPasskey({ userHandle: Buffer.from(options.user.id, 'base64url') });
    const answer = await postByLink(browser, hash, enrolmentOf(passkey, options), {
      headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
    });
    expect([answer.statusCode, answer.headers.location]).toEqual([303, done]);
    expect(browser.cookies).not.toHaveProperty('vestibule_session');
    expect(await lastEvent()).toMatchObject({
      event: 'invitation-used',
      username: 'grace',
      steps: [
        { step: 'passkey', outcome: expect.stringMatching(/^[\w-]{36}, Firefox, Linux$/) },
        { step: 'sessions ended', outcome: '0' },
      ],
    });
    await portal.workOff();
    expect(portal.mails.at(-1)).toMatchObject({
      recipient: 'grace@acme.test',
      subject: 'A passkey was added for Vestibule',
    });
    const page = await browser.get(done);
    expect(page.body).toContain('You can sign in with your passkey now.');
    const other = browserForTest(portal);
    await signInWithPasskey(other, passkey);
    expect(await signedInAs(portal, other.cookies)).toBe('grace');
    // What the password form says of such a link, and its page.
    expect(await landing(hash)).toBe('/portal/forgottenChangeFailedInfo?reason=3&invited=true');
    const again = await portal.send({ url: `/portal/forgottenChange?hash=${hash}&invited=true` });
    expect(again.headers.location).toBe(done);
  });
});

describe('nobody else can end what one began', () => {
  async function begun(hash: string) {
    const browser = browserForTest(portal);
    const options = (await beginByLink(browser, hash)).json<InvitationOptions>();
    const passkey = newPasskey({ userHandle: Buffer.from(options.user.id, 'base64url') });
    const credential = enrolmentOf(passkey, options);
    return { browser, credential, end: async (by = browser, link = hash) => await ended(by, link, credential) };
  }
  async function ended(by: ReturnType<typeof browserForTest>, link: string, credential: string) {
    const { location } = (await postByLink(by, link, credential)).headers;
    if (location === done) return done;
    const event = await lastEvent();
    return [location, event?.reason];
  }
  const refused = [failed, 'challenge-unknown'];

  it('not another browser with the link, nor one without a cookie; nor twice', async () => {
    const hash = await invitationFor(portal, 'grace');
    const [first, other] = [await begun(hash), await begun(hash)];
    expect(await first.end(other.browser)).toEqual(refused);
    expect(await first.end(browserForTest(portal))).toEqual(refused);
    expect(await first.end()).toBe(done);
    expect((await first.end())[0]).toBe(over);
  });

  it('not the same browser by the link of somebody else, nor after five minutes, nor by a challenge of a sign-in', async () => {
    const [ofGrace, ofHeidi] = [await invitationFor(portal, 'grace'), await invitationFor(portal, 'heidi')];
    const first = await begun(ofGrace);
    expect(await first.end(first.browser, ofHeidi)).toEqual(refused);
    const second = await begun(ofGrace);
    portal.wait(300_000);
    expect(await second.end()).toEqual(refused);
    const signIn = await first.browser.get('/portal/passkeys/options', { method: 'POST' });
    const passkey = newPasskey({ userHandle: Buffer.alloc(16, 1) });
    const credential = enrolmentOf(passkey, signIn.json<{ challenge: string }>());
    expect(await ended(first.browser, ofGrace, credential)).toEqual(refused);
    expect(await passkeys()).toHaveLength(0);
  });
});

describe('a link that makes no passkey', () => {
  const begins = async (hash: string) => (await beginByLink(browserForTest(portal), hash)).statusCode;
  const refusal = async (hash: string) => {
    const { headers } = await postByLink(browserForTest(portal), hash, '{}');
    return [headers.location, (await lastEvent())?.reason];
  };

  it('none at all: such tries of an address wait', async () => {
    const hash = 'A'.repeat(43);
    expect(await refusal(hash)).toEqual(['/portal/forgottenChangeFailedInfo?reason=4&invited=passkey', '4']);
    for (let n = 1; n < 100; n += 1) expect(await begins(hash)).toBe(204);
    expect([await begins(hash), await begins(hash)]).toContain(429);
    const answer = await postByLink(browserForTest(portal), hash, '{}');
    expect(answer.statusCode).toBe(429);
    // Still the page of an invitation, not of a reset.
    expect(answer.body).toContain('Create your passkey</h1>');
    expect(answer.body).not.toContain('name="password"');
    expect(await lastEvent()).toMatchObject({ event: 'password-change-refused', reason: 'throttled' });
  });

  it.each([
    ['a reset link', '4', `update reset_link set purpose = 'reset'`],
    ['replaced, or over', '3', `update reset_link set ends_at = made_at`],
    ['of an inactive user', '7', `update portal_user set active = false where username = 'grace'`],
    ['of no customer', '10', `delete from membership`],
    ['of somebody who may not choose', '8', `update portal_user set may_change_password = false`],
    ['where no customer takes passkeys', '8', `update customer set passkeys = 'off'`],
    ['of another network', 'network', `update customer set allowed_networks = '{203.0.113.0/24}'`],
  ])('one that is %s', async (_what, reason, spoil) => {
    const hash = await invitationFor(portal, 'grace');
    expect(await begins(hash)).toBe(200);
    await portal.sql.unsafe(spoil);
    expect(await begins(hash)).toBe(204);
    const page =
      reason === 'network' ? 'loginfail/ip?ipaddress=198.51.100.7' : `forgottenChangeFailedInfo?reason=${reason}`;
    expect(await refusal(hash)).toEqual([`/portal/${page}&invited=passkey`, reason]);
  });
});
