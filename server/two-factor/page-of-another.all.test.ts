import { describe, expect, it } from 'vitest';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  sendUrl,
  startTwoFactorAfresh,
  triesCounted,
  verify,
  verifyByForm,
} from '#testing/two-factor-for-test.ts';

// Bob is at his code in one tab when somebody else signs in in another one of the same browser.

const portal = portalOfFile({ each: startTwoFactorAfresh });

const redirectURL = '/portal/x?y=1';
const asks = '/portal/logout?confirm=account';
const againAsBob = '/portal/login?notice=signInExpired&destination=%2Fportal%2Fx%3Fy%3D1';

async function signInAsWell(username: string, cookies: Browser): Promise<Browser> {
  return { ...cookies, ...cookiesOf(await portal.signIn(username, testPassword, { cookies })) };
}
const page = { accept: 'text/html' };
const pageOf = (account: string) => ({
  headers: { accept: 'application/json', 'vestibule-account': encodeURIComponent(account) },
});
const sendAnother = (cookies: Browser, form: Record<string, string>, query = '') =>
  portal.send({ method: 'POST', url: sendUrl + query, form, cookies, headers: page });

describe('SE-15 once somebody else is signed in', () => {
  it('the form of a code asks whether to sign them out, and leads nowhere in their session', async () => {
    const bob = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    const both = await signInAsWell('pat', bob);
    const answer = await verifyByForm(portal, { code, redirectURL, account: 'bob' }, both);
    expect([answer.statusCode, answer.headers.location, answer.cookies]).toEqual([303, asks, []]);
    const malformed = await verifyByForm(portal, { code: 'abc', redirectURL, account: 'bob' }, both);
    expect(malformed.headers.location).toBe(asks);
    const inGerman = await verifyByForm(portal, { code, redirectURL, account: 'bob' }, both, '?lang=de');
    expect(inGerman.headers.location).toBe(`${asks}&lang=de`);
    const { body } = await portal.send({ url: inGerman.headers.location ?? '', cookies: both, headers: page });
    expect(body).toContain('In diesem Browser ist pat angemeldet.');
    expect(body).toMatch(/<a href="\/portal\/login\?lang=de">Weiter als pat</);
    expect(await signedInAs(portal, both)).toBe('pat');
  });

  it('a script is told so', async () => {
    const bob = await halfSession(portal, 'bob');
    const both = await signInAsWell('pat', bob);
    const answer = await verify(portal, '123456', both, pageOf('bob'));
    expect([answer.statusCode, answer.json()]).toMatchObject([401, { notice: 'signInExpired', since: 'otherSignIn' }]);
    // A page that could not tell whose it is, as while the database is down, or one from before an update.
    for (const more of [{}, pageOf('')])
      expect((await verify(portal, '123456', both, more)).json()).toMatchObject({ since: 'otherSignIn' });
    expect((await verify(portal, '123456', both, pageOf('pat'))).json()).not.toHaveProperty('since');
  });

  it('so is who asks for another code', async () => {
    const bob = await halfSession(portal, 'bob');
    const both = await signInAsWell('pat', bob);
    const answer = await sendAnother(both, { redirectURL, account: 'bob' }, '?lang=pl');
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${asks}&lang=pl`]);
    const called = await portal.send({ method: 'POST', url: sendUrl, cookies: both, ...pageOf('bob') });
    expect([called.statusCode, called.json()]).toMatchObject([401, { since: 'otherSignIn' }]);
  });

  it('a code is not tried on the app that they set up themselves', async () => {
    const alice = await halfSession(portal, 'alice');
    const both = await signInAsWell('pat', alice);
    await askForKey(portal, both);
    const before = await triesCounted(portal);
    const answer = await verifyByForm(portal, { code: '123456', redirectURL, account: 'alice' }, both);
    expect(answer.headers.location).toBe(asks);
    expect((await verify(portal, '123456', both, pageOf('alice'))).statusCode).toBe(401);
    expect(await triesCounted(portal)).toEqual(before);
    expect((await verify(portal, '123456', both, pageOf('pat'))).body).toBe('false');
  });

  it('the same person in two tabs goes on, each tab to its own destination', async () => {
    const secret = await giveApp(portal, 'alice');
    const first = await halfSession(portal, 'alice');
    const second = await halfSession(portal, 'alice', { cookies: first });
    const done = await verifyByForm(portal, { code: codeNow(portal, secret), account: 'alice' }, second);
    const both = { ...second, ...cookiesOf(done) };
    const code = codeNow(portal, secret, 1);
    const answer = await verifyByForm(portal, { code, redirectURL, account: 'alice' }, both);
    expect(answer.headers.location).toBe(againAsBob);
    expect((await portal.send({ url: againAsBob, cookies: both })).headers.location).toBe(redirectURL);
  });
});

describe('SE-15 once somebody else is at their own code', () => {
  it('a code is not tried on theirs, nor is another one sent', async () => {
    const bob = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    const both = await halfSession(portal, 'beth', { cookies: bob });
    portal.wait(60_000);
    await portal.workOff();
    const mails = portal.mails.length;
    const before = await triesCounted(portal);
    expect((await verifyByForm(portal, { code, redirectURL, account: 'bob' }, both)).headers.location).toBe(againAsBob);
    const called = await verify(portal, code, both, pageOf('bob'));
    expect(called.json()).toMatchObject({ status: 401, notice: 'signInExpired' });
    expect(called.json()).not.toHaveProperty('since');
    expect((await sendAnother(both, { redirectURL, account: 'bob' })).headers.location).toBe(againAsBob);
    await portal.workOff();
    expect([await triesCounted(portal), portal.mails.length]).toEqual([before, mails]);
    expect((await sendAnother(both, { redirectURL, account: 'beth' })).headers.location).toContain('notice=codeSent');
    await portal.workOff();
    expect(portal.mails.length).toBe(mails + 1);
  });
});

it('the page that asks leads to the form once nobody is signed in', async () => {
  const bob = await halfSession(portal, 'bob');
  for (const cookies of [{}, bob]) {
    const { statusCode, headers } = await portal.send({ url: `${asks}&lang=de`, cookies, headers: page });
    expect([statusCode, headers.location]).toEqual([303, '/portal/login?lang=de']);
  }
});
