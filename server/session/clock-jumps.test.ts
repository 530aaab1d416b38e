import { beforeEach, expect, it } from 'vitest';
import { day, hour } from '#server/limits.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  startTwoFactorAfresh,
  verify,
} from '#testing/two-factor-for-test.ts';

const portal = portalOfFile();
let secret: string;
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
});

const statusOf = async (cookies: Browser) => (await portal.send({ url: '/portal/session', cookies })).statusCode;
const patSignedIn = async () => cookiesOf(await portal.signIn('pat', testPassword));

it.each([
  ['an hour', hour],
  ['a day', day],
])(
  'RL-08 %s ahead, sessions are over and codes of apps wrong; when the clock is right again, both are right',
  async (_, time) => {
    const cookies = await patSignedIn();
    const code = codeNow(portal, secret);
    portal.wait(time);
    expect(await statusOf(cookies)).toBe(401);
    expect((await verify(portal, code, await halfSession(portal, 'alice'))).body).toBe('false');
    portal.wait(-time);
    expect(await statusOf(cookies)).toBe(200);
    expect((await verify(portal, code, await halfSession(portal, 'alice'))).body).toBe('true');
  },
);

it('RL-08 a day back, codes of apps are wrong, and what begins then is over when the clock is right again', async () => {
  const earlier = await patSignedIn();
  const code = codeNow(portal, secret);
  portal.wait(-day);
  expect((await verify(portal, code, await halfSession(portal, 'alice'))).body).toBe('false');
  const later = await patSignedIn();
  expect([await statusOf(later), await statusOf(earlier)]).toEqual([200, 200]);
  portal.wait(day);
  expect([await statusOf(later), await statusOf(earlier)]).toEqual([401, 200]);
});
