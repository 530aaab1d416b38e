import type { Response } from 'light-my-request';
import { describe, expect, it } from 'vitest';
import { configFrom, cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForReset,
  changedPage,
  changeTo,
  failedPage,
  linkFor,
  newPassword,
  startAfresh,
  tokenIn,
} from '#test/support/reset-for-test.ts';

const { destinationRules } = configFrom({});
const allowedOrigins = ['https://reports.acme.test'];
const portal = portalOfFile({
  config: { destinationRules: { ...destinationRules, allowedOrigins } },
  each: startAfresh,
});

const page = '/hub/start?a=b%26c&x=~*\'"<!>.';
/** As the URL parser writes it. */
const accepted = '/hub/start?a=b%26c&x=~*%27%22%3C!%3E.';
const asking = (url: string, destination = page) => `${url}?${new URLSearchParams({ destination })}`;
const kept = (url: string, destination = accepted) =>
  `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams({ destination })}`;

const ask = (destination?: string, name = 'alice', more = {}) =>
  askForReset(portal, `${name}@acme.test`, { url: asking('/portal/password/forgotten', destination), ...more });
const linkIn = ({ text }: { text: string } = { text: '' }) => /https?:\S+/.exec(text)?.[0] ?? '';
/** The destination that the emailed link has; null if none. */
async function mailed(destination: string): Promise<string | null> {
  portal.mails.length = 0;
  await portal.sql`delete from throttle`;
  expect((await ask(destination)).statusCode).toBe(303);
  await portal.workOff();
  expect(portal.mails).toHaveLength(1);
  return new URL(linkIn(portal.mails[0])).searchParams.get('destination');
}
const decoded = (html = '') =>
  html
    .replace(/&(?:amp|#38);/g, '&')
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"');
const actionOf = ({ body }: Response) => decoded(/<form[^>]* action="(\/portal\/password\/[^"]*)"/.exec(body)?.[1]);
const change = (token: string, destination?: string, more = {}) =>
  changeTo(portal, token, newPassword, { url: asking('/portal/password/change', destination), ...more });

const refused = ['https://evil.example/', '/\\evil.example', 'javascript:alert(1)', '/portal/logout', ''];

describe('the page that was asked for first', () => {
  it('is reached without JavaScript by the link, in a browser that has nothing else', async () => {
    const form = await portal.send({ url: asking('/portal/forgotten') });
    const asked = await askForReset(portal, 'alice@acme.test', { url: actionOf(form) });
    expect([asked.statusCode, asked.headers.location]).toEqual([303, kept('/portal/emailInfo')]);
    await portal.workOff();
    const [mail] = portal.mails;
    const link = linkIn(mail);
    expect(link).toMatch(/^http:\/\/[^/]+\/portal\/forgottenChange\?hash=[\w-]{43}&destination=[\w%.+-]+&lang=en$/);
    expect(decoded(mail?.html)).toContain(`"${link}"`);
    const { pathname, search } = new URL(link);
    const url = actionOf(await portal.send({ url: pathname + search }));
    const changed = await changeTo(portal, tokenIn(mail), newPassword, { url });
    expect(changed.headers.location).toBe(`${kept(changedPage)}&lang=en`);
    const done = await portal.send({ url: String(changed.headers.location) });
    const [, toForm = ''] = /<a href="(\/portal\/login[^"]*)" class="button"/.exec(done.body) ?? [];
    const signIn = await portal.send({ url: decoded(toForm) });
    const redirectURL = decoded(/name="redirectURL" value="([^"]*)"/.exec(signIn.body)?.[1]);
    const credentials = { username: 'alice', password: newPassword, redirectURL };
    const arrived = await portal.signIn('alice', newPassword, { form: credentials });
    expect(arrived.headers.location).toBe(accepted);
  });

  it('OR-01 is left out of the email, and wherever a link leads, if it is refused', async () => {
    for (const destination of refused) {
      expect(await mailed(destination), destination).toBeNull();
      const token = await linkFor(portal, 'alice');
      const open = () => portal.send({ url: `${asking('/portal/forgottenChange', destination)}&hash=${token}` });
      expect(actionOf(await open())).toBe('/portal/password/change');
      expect((await change('', destination)).headers.location).toBe(failedPage(4));
      await portal.sql`update reset_link set used_at = made_at`;
      expect((await open()).headers.location).toBe(changedPage);
    }
  });

  it('is kept by a refused change and the way back to the form', async () => {
    const token = await linkFor(portal, 'alice');
    const tooWeak = await changeTo(portal, token, 'lanternq', { url: asking('/portal/password/change') });
    expect(tooWeak.headers.location).toBe(kept(failedPage(1)));
    const old = await changeTo(portal, token, testPassword, { url: asking('/portal/password/change') });
    expect(old.headers.location).toBe(kept(failedPage(11)));
    const failed = await portal.send({ url: String(old.headers.location) });
    const [, back = ''] = /<a href="(\/portal\/forgottenChange[^"]*)"/.exec(failed.body) ?? [];
    const form = await portal.send({ url: decoded(back), cookies: cookiesOf(old) });
    expect(actionOf(form)).toBe(kept('/portal/password/change'));
  });
});
