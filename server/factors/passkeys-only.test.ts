import { beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { givePasskey, makeByLink, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForReset,
  changeTo,
  invitationFor,
  invite,
  linkFor,
  newPassword,
  storedHash,
} from '#test/support/reset-for-test.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { type BrowserForTest, browserForTest } from '#test/support/sso-for-test.ts';
import { issueResetLink } from '../sign-in/reset-link.ts';

const portal = portalOfFile({
  async each(portal) {
    await emptyDatabase(portal);
    portal.mails.length = 0;
    await addAttackFixtures(portal);
  },
});

beforeEach(() => portal.sql`update customer set passkeys = 'only' where key = 'acme'`);

const reasons = async (event: string) =>
  (await portal.sql`select reason from audit_event where event = ${event} order by id`).map(({ reason }) => reason);

async function signIn(username: string, password = testPassword) {
  const browser = browserForTest(portal);
  const answer = await browser.post('/portal/performlogin', { username, password });
  return { browser, answer };
}

/** What a visitor can tell of an answer. */
const shown = ({ answer, browser }: Awaited<ReturnType<typeof signIn>>) => [
  answer.statusCode,
  answer.headers.location,
  Object.keys(browser.cookies).sort(),
];

describe('a password', () => {
  it('signs nobody in: the right one is answered as a wrong one, and as one of nobody', async () => {
    const [right, wrong, nobody] = [
      await signIn('alice'),
      await signIn('alice', 'Wrong-Horse-42'),
      await signIn('nobody'),
    ];
    expect(shown(right)).toEqual(shown(wrong));
    expect(shown(right)).toEqual(shown(nobody));
    expect(right.answer.headers.location).toBe('/portal/loginfail/default');
    expect(await reasons('sign-in-refused')).toEqual(['passkey-required', 'wrong-password', 'unknown-user']);
  });

  it('is refused for people of several customers, too: the strictest counts; a disabled one does not', async () => {
    await addCustomer(portal, 'beta');
    await addUser(portal, { username: 'both', customers: ['acme', 'beta'] });
    expect(await signedInAs(portal, (await signIn('both')).browser.cookies)).toBeNull();
    await portal.sql`update customer set active = false where key = 'acme'`;
    expect(await signedInAs(portal, (await signIn('both')).browser.cookies)).toBe('both');
  });

  it('is neither set by a link nor asked for one: an email says how they sign in', async () => {
    const hash = await linkFor(portal, 'alice');
    const before = await storedHash(portal, 'alice');
    const answer = await changeTo(portal, hash, newPassword);
    expect(answer.headers.location).toBe('/portal/forgottenChangeFailedInfo?reason=8');
    expect(await storedHash(portal, 'alice')).toBe(before);
    expect((await askForReset(portal, 'alice@acme.test')).headers.location).toBe('/portal/emailInfo');
    await portal.workOff();
    expect(await reasons('password-forgotten')).toEqual(['passkey-mailed']);
    expect(portal.mails[0]?.text).toContain('Your company uses passkeys only');
    expect(portal.mails[0]?.text).toContain('/portal/login?lang=en');
    expect(await issueResetLink(portal.sql, 'alice', portal.by())).toMatchObject({
      kind: 'useless',
      problem: 'a customer of the user takes passkeys only; vestibule user invite alice mails a link to make one',
    });
  });
});

describe('an invitation', () => {
  it('makes a passkey also for somebody with a password, which stays useless; it makes no password', async () => {
    const hash = await invitationFor(portal, 'alice');
    const opened = await portal.send({ url: `/portal/forgottenChange?hash=${hash}&invited=true` });
    // A reload, once the script has taken the link out of the address, shows the same.
    expect(opened.headers.location).toBe(`/portal/forgottenChange?hash=${hash}&invited=passkey`);
    const reloaded = await portal.send({ url: '/portal/forgottenChange?invited=passkey' });
    expect(reloaded.body).not.toContain('name="password"');
    const page = await portal.send({ url: String(opened.headers.location) });
    expect(page.body).toContain('Create your passkey</h1>');
    expect(page.body).not.toContain('name="password"');
    const refused = await changeTo(portal, hash, newPassword);
    expect(refused.headers.location).toBe('/portal/forgottenChangeFailedInfo?reason=8&invited=true');
    const { passkey } = await makeByLink(browserForTest(portal), hash);
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, passkey);
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
    expect(await signedInAs(portal, (await signIn('alice')).browser.cookies)).toBeNull();
    // Nobody who has one is invited, but who has lost all, once an operator has removed them.
    expect(await invite(portal, 'alice')).toMatchObject({ kind: 'refused' });
    await portal.sql`delete from passkey`;
    await portal.sql`update portal_user set may_change_password = false`;
    const { location } = await makeByLink(browserForTest(portal), await invitationFor(portal, 'alice'));
    expect(location).toBe('/portal/forgottenChangedInfo?invited=passkey');
  });
});

describe('the account page', () => {
  async function signedIn(): Promise<BrowserForTest> {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'alice'));
    return browser;
  }
  const sessionIn = (body: string) => /name="session" value="([^"]+)"/.exec(body)?.[1] ?? '';

  it('keeps the last passkey that works, and says why; of two it removes one', async () => {
    const browser = await signedIn();
    await givePasskey(portal, 'alice', { name: 'Second' });
    const ids = (await portal.sql`select id from passkey order by made_at, name`).map(({ id }) => String(id));
    const remove = async (id: string) => {
      const session = sessionIn((await browser.get(`/portal/account/passkeys?do=remove&id=${id}`)).body);
      return String((await browser.post('/portal/account/passkeys', { session, do: 'remove', id })).headers.location);
    };
    const [last = '', first = ''] = ids;
    expect(await remove(first)).toContain('notice=passkeyRemoved');
    const refused = await remove(last);
    expect(refused).toContain('notice=passkeyLast');
    expect((await browser.get(refused)).body).toContain('This is your last passkey');
    // One for an earlier domain goes: it is no way in.
    await portal.sql`update passkey set rp_id = 'elsewhere.example'`;
    await givePasskey(portal, 'alice', { name: 'Third' });
    const [third] = await portal.sql<{ id: string }[]>`select id from passkey where id <> ${last}`;
    expect(await remove(third?.id ?? '')).toContain('notice=passkeyLast');
    expect(await remove(last)).toContain('notice=passkeyRemoved');
  });
});
