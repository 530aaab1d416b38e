import { expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  otherThan,
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });
const destination = '/portal/x?y=1';

async function press(code: string, cookies: Browser): Promise<{ to: string | undefined; token: string | undefined }> {
  const answer = await verifyByForm(portal, { code, redirectURL: destination }, cookies);
  return { to: answer.headers.location, token: cookiesOf(answer)['vestibule-session'] };
}

const sessions = async () => (await portal.sql`select from session where stage = 'full'`).length;

const ways: Record<string, () => Promise<{ code: string; cookies: Browser; to: string }>> = {
  'of an app': async () => {
    const secret = await giveApp(portal, 'alice');
    return { code: codeNow(portal, secret), cookies: await halfSession(portal, 'alice'), to: destination };
  },
  'by email': async () => {
    const cookies = await halfSession(portal, 'bob');
    return { code: await codeByMail(portal, 'bob'), cookies, to: destination };
  },
  'for recovery': async () => {
    await giveApp(portal, 'alice');
    const [code = ''] = await giveRecoveryCodes(portal, 'alice');
    return { code, cookies: await halfSession(portal, 'alice'), to: '/recovery-codes' };
  },
  'that confirms an app': async () => {
    const cookies = await halfSession(portal, 'alice');
    const { totpSecret } = (await askForKey(portal, cookies)).json<{ totpSecret: string }>();
    return { code: codeNow(portal, totpSecret), cookies, to: '/recovery-codes' };
  },
};

it.each(Object.keys(ways))(
  'a form with a right code %s that is pressed twice leads where it led first',
  async (way) => {
    const { code, cookies, to } = await (ways[way] as (typeof ways)[string])();
    const first = await press(code, cookies);
    expect(first.to).toContain(to);
    portal.wait(limits.sameCodePress - 1);
    expect(await press(code, cookies)).toEqual(first);
    expect(await sessions()).toBe(1);
    expect(await signedInAs(portal, { 'vestibule-session': first.token ?? '' })).not.toBeNull();
  },
);

it('finds nothing ten seconds later, with another code, by script, or once the session has ended', async () => {
  const { code, cookies } = await (ways['of an app'] as (typeof ways)[string])();
  const { token = '' } = await press(code, cookies);
  expect((await press(otherThan(code), cookies)).to).toContain('notice=signInExpired');
  expect(verdict(await verify(portal, code, cookies))).toEqual([401, 'signInExpired']);
  portal.wait(limits.sameCodePress);
  expect((await press(code, cookies)).to).toContain('notice=signInExpired');
  const again = await (ways['by email'] as (typeof ways)[string])();
  const opened = await press(again.code, again.cookies);
  await portal.send({
    method: 'POST',
    url: '/portal/logout',
    cookies: { 'vestibule-session': opened.token ?? '' },
  });
  expect(await press(again.code, again.cookies)).toEqual({
    to: expect.stringContaining('notice=signInExpired'),
    token: undefined,
  });
  expect(await signedInAs(portal, { 'vestibule-session': token })).toBe('alice');
});
