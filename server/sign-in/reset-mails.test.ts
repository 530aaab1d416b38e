import { describe, expect, it } from 'vitest';
import { addUser } from '#test/support/accounts-for-test.ts';
import { brandForTest } from '#test/support/brand-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForReset,
  changedPage,
  changeTo,
  comesOf,
  newPassword,
  startAfresh,
  tokenIn,
} from '#test/support/reset-for-test.ts';
import { hour, limits } from '../limits.ts';

const publicUrl = 'https://portal.example';
const brand = brandForTest({ name: '<b>Hub</b> & "Co" https://evil.example' });
const portal = portalOfFile({ env: { PUBLIC_URL: publicUrl }, config: { brand }, each: startAfresh });

/** Characters for HTML entities. */
function decoded(html = ''): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return html.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code ? String.fromCodePoint(code) : (named[name] ?? whole),
  );
}

describe('the email that helps', () => {
  it('PR-12 UN-06 goes to the stored address, however it was typed; a look-alike gets none', async () => {
    await addUser(portal, { username: 'Kass', email: 'Kass@Bücher.test' });
    await addUser(portal, { username: 'sinead', email: "sinead.o'neil@acme.test" });
    const forms = {
      'alice@acme.test': ['ａlice@acme.test', 'ALICE@ACME.TEST', 'alice@acme.test.'],
      // As phones, Outlook and Windows' dialogs write them.
      'bob@acme.test': ['bob@acme.test ', '\u00a0bob@acme.test\t', 'bob＠acme.test', '\u200e\u202abob@acme.test\u202c'],
      "sinead.o'neil@acme.test": ["Sinead.O'Neil@acme.test"],
      'Kass@Bücher.test': ['\u212aass@bücher.test', 'kass@xn--bcher-kva.test', 'kass@bu\u0308cher.test'],
    };
    for (const [stored, typed] of Object.entries(forms))
      for (const form of typed) {
        portal.mails.length = 0;
        await portal.sql`delete from throttle`;
        expect([form, (await comesOf(portal, [form])).to]).toEqual([form, [stored]]);
        expect(JSON.stringify(portal.mails)).not.toContain(form);
      }
    await startAfresh(portal);
    const twins = ['alıce@acme.test', 'аlice@acme.test', 'al\u00adice@acme.test', 'alice@acme.tеst', 'kaß@bücher.test'];
    const { to, events } = await comesOf(portal, twins);
    expect([to, new Set(events.flat())]).toEqual([[], new Set(['unknown-user', null])]);
  });

  it('PR-21 is a link for users who may choose a password, a hint for single sign-on users, else says that there is none', async () => {
    await addUser(portal, { username: 'grace', passwordHash: null });
    const names = ['alice', 'carol', 'grace', 'dave', 'erin', 'frank', 'sso-only', 'nobody'];
    const { to, events } = await comesOf(
      portal,
      names.map((name) => `${name}@acme.test`),
    );
    expect(to.toSorted()).toEqual(
      ['alice', 'carol', 'dave', 'erin', 'frank', 'grace', 'sso-only'].map((name) => `${name}@acme.test`),
    );
    const mailTo = (name: string) => portal.mails.find(({ recipient }) => recipient === `${name}@acme.test`);
    expect(events).toEqual([
      ...['alice', 'carol', 'grace'].map((name) => ['link-mailed', name]),
      ...['dave', 'erin', 'frank'].map((name) => ['no-reset-mailed', name]),
      ['single-sign-on-mailed', 'sso-only'],
      ['unknown-user', null],
    ]);
    expect(mailTo('sso-only')?.text).toContain(`${publicUrl}/portal/singleSignOn`);
    for (const name of ['sso-only', 'dave', 'erin', 'frank']) expect(mailTo(name)?.text).not.toMatch(/hash=|[\w-]{43}/);
    expect(mailTo('dave')?.text).toContain('Ask your administrator');
    expect(await portal.sql`select from reset_link`).toHaveLength(3);
    await portal.sql`update portal_user set active = false where username = 'alice'`;
    await changeTo(portal, tokenIn(mailTo('alice')), newPassword);
    expect((await portal.signIn('alice', testPassword)).headers.location).toContain('/loginfail/default');
    expect(await portal.sql`select from portal_user where username = 'alice' and active`).toHaveLength(0);
  });

  it('PR-08 PR-22 has one https link to the configured host, and names are plain text in it', async () => {
    await addUser(portal, { username: '<img/src=x>', email: 'img@acme.test' });
    const headers = { host: 'portal.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
    await askForReset(portal, 'img@acme.test', { headers: { ...headers, referer: 'https://portal.example/x' } });
    expect((await askForReset(portal, 'img@acme.test', { headers: { host: 'evil.example' } })).statusCode).toBe(421);
    await portal.workOff();
    expect(portal.mails).toHaveLength(1);
    const [mail = { text: '', html: '', subject: '' }] = portal.mails;
    const link = `${publicUrl}/portal/forgottenChange?hash=${tokenIn(portal.mails[0])}&lang=en`;
    expect(mail.text.match(/https?:\/\/\S+/g)).toEqual([link]);
    const hrefs = [...mail.html.matchAll(/(?:href|src|action|background)\s*=\s*"([^"]*)"/g)].map(([, href]) =>
      decoded(href),
    );
    expect(new Set(hrefs)).toEqual(new Set([link]));
    const words = decoded(mail.html.replace(/<[^>]*>/g, ''));
    for (const name of ['<img/src=x>', '<b>Hub</b> & "Co"']) {
      expect(words).toContain(name);
      expect(mail.text).toContain(name);
    }
    expect(mail.html).not.toMatch(/<img|<b>|<script/i);
  });

  it.each([
    ['pl', 'de', 'pl'],
    [null, 'de', 'de'],
    [null, 'xx', 'en'],
  ])('is in the language of the user (%s), else in that of the page (%s): %s', async (language, page, expected) => {
    await addUser(portal, { username: 'grace', language });
    await askForReset(portal, 'grace@acme.test', { url: `/portal/password/forgotten?lang=${page}` });
    await portal.workOff();
    expect(portal.mails[0]?.html).toContain(`lang="${expected}"`);
    expect(portal.mails[0]?.text).toContain(`&lang=${expected}`);
  });
});

describe('how many emails are sent', () => {
  it.each(['alice', 'sso-only'])(
    'LK-02 at most three an hour to %s, whoever asks; the answer is the same, and the newest link works',
    async (name) => {
      const { resetMailsAnHour } = limits;
      for (let n = 0; n < resetMailsAnHour + 3; n += 1) {
        const answer = await askForReset(portal, `${name}@acme.test`, { from: `192.0.2.${n}` });
        expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/emailInfo']);
        await portal.workOff();
      }
      const { to, events } = await comesOf(portal, ['bob@acme.test']);
      expect(to).toEqual([...Array(resetMailsAnHour).fill(`${name}@acme.test`), 'bob@acme.test']);
      expect(events.filter(([reason]) => reason === 'too-many-mails')).toHaveLength(3);
      portal.wait(hour);
      expect((await comesOf(portal, [`${name}@acme.test`])).to).toHaveLength(resetMailsAnHour + 2);
      if (name === 'alice')
        expect((await changeTo(portal, tokenIn(portal.mails.at(-1)), newPassword)).headers.location).toBe(changedPage);
    },
  );
});
