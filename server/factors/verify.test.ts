import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForKey,
  codeNow,
  giveApp,
  halfSession,
  sendUrl,
  startTwoFactorAfresh,
  step,
  triesCounted,
  verdict,
  verify,
  verifyUrl,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

let secret: string;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
});

/** The outcome of a code in a half session of its own. */
async function tried(code: string, username = 'alice'): Promise<unknown> {
  const cookies = await halfSession(portal, username);
  const answer = await verify(portal, code, cookies);
  const left = { ...cookies, ...cookiesOf(answer) };
  expect(await signedInAs(portal, left)).toBe(answer.body === 'true' ? username : null);
  return verdict(answer);
}

describe('a code of an app', () => {
  it('MF-01 works once, in its half session and in others, however long its window is still open', async () => {
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret, 1);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
    expect(verdict(await verify(portal, code, cookies))).toEqual([401, 'signInExpired']);
    for (let steps = 0; steps < 3; steps += 1) {
      expect(await tried(code)).toBe(false);
      portal.wait(step);
    }
  });

  it('MF-02 of a step before the last used one is refused, one of a later step is not', async () => {
    expect(await tried(codeNow(portal, secret, 1))).toBe(true);
    for (const steps of [0, -1]) expect(await tried(codeNow(portal, secret, steps))).toBe(false);
    portal.wait(step);
    expect(await tried(codeNow(portal, secret, 1))).toBe(true);
  });

  it('MF-08 of another user is refused', async () => {
    const adams = await giveApp(portal, 'adam');
    expect(await tried(codeNow(portal, adams), 'alice')).toBe(false);
    expect(await tried(codeNow(portal, secret), 'adam')).toBe(false);
    expect(await tried(codeNow(portal, secret), 'alice')).toBe(true);
  });

  it('MF-17 is compared only with the server’s clock', async () => {
    const then = new Date(portal.deps.now().getTime() - 10 * step);
    const headers = { date: then.toUTCString(), 'x-timestamp': String(then.getTime() / 1000) };
    const query = `?time=${then.getTime()}&epoch=${then.getTime() / 1000}&offset=-300`;
    const cookies = { ...(await halfSession(portal, 'alice')), time: String(then.getTime()) };
    expect(verdict(await verify(portal, codeNow(portal, secret, -10), cookies, { headers, query }))).toBe(false);
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies, { headers, query }))).toBe(true);
  });
});

describe('MF-05 what is no code is refused, uncounted, and the code still works', () => {
  it('MF-05 LM-15 as JSON: other digits beside it, other types', async () => {
    const [cookies, code] = [await halfSession(portal, 'alice'), codeNow(portal, secret)];
    const values = [
      ...[`0${code}`, `${code}0`, code.slice(0, 5), '', `${code},${code}`, `1e${code}`, 'null'],
      ...[Number(code), [code], { code }, { 0: code }, true, null],
    ];
    for (const value of values)
      expect([value, verdict(await verify(portal, value, cookies))]).toEqual([value, [400, null]]);
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });

  it('MF-21 verify and send accept only POST', async () => {
    const [cookies, code] = [await halfSession(portal, 'alice'), codeNow(portal, secret)];
    for (const url of [verifyUrl, sendUrl])
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const answer = await portal.send({ method, url: `${url}?code=${code}`, cookies });
        expect([url, method, answer.statusCode, answer.headers.allow]).toEqual([url, method, 405, 'POST']);
      }
  });
});

describe('MF-06 wrong codes in one half session', () => {
  it('MF-06 LG-05 five are checked and recorded; then even the right one fails, and the form has the name', async () => {
    const cookies = cookiesOf(await portal.signIn('alice', testPassword));
    const said: unknown[] = [];
    for (const code of [...wrongCodes(portal, secret, 5), codeNow(portal, secret)]) {
      const answer = await verify(portal, code, cookies);
      said.push([verdict(answer), answer.headers['vestibule-notice']]);
      Object.assign(cookies, cookiesOf(answer));
    }
    const wrong = [false, undefined];
    expect(said).toEqual([...Array(4).fill(wrong), [false, 'tooManyCodes'], [[401, 'tooManyCodes'], undefined]]);
    const page = await portal.send({ url: '/portal/twoFactor?redirectURL=%2Fportal%2Fx', cookies });
    expect(page.headers.location).toBe('/portal/login?notice=tooManyCodes&destination=%2Fportal%2Fx');
    const { body } = await portal.send({ url: '/portal/login', cookies });
    expect(body).toMatch(/<input[^>]*name="username"[^>]*value="alice"/);
    const events = await portal.sql`
      select event, username, steps from audit_event where event like '%code%' or event like '%ended' order by id`;
    const tries = [1, 2, 3, 4, 5].map((n) => ({
      event: 'code-refused',
      username: 'alice',
      steps: [{ step: 'code', outcome: `try ${n} of 5, app` }],
    }));
    expect(events).toEqual([...tries, { event: 'second-factor-ended', username: 'alice', steps: [] }]);
    expect(await tried(codeNow(portal, secret))).toBe(true);
  });

  it('MF-06 a registration has five as well, and then no longer shows its secret', async () => {
    const cookies = await halfSession(portal, 'adam');
    const { totpSecret } = (await askForKey(portal, cookies)).json<{ totpSecret: string }>();
    for (const code of wrongCodes(portal, totpSecret, 5))
      expect(verdict(await verify(portal, code, cookies))).toBe(false);
    expect(verdict(await verify(portal, codeNow(portal, totpSecret), cookies))).toEqual([401, 'tooManyCodes']);
    const answer = await askForKey(portal, cookies);
    expect([answer.statusCode, answer.body.includes(totpSecret)]).toEqual([401, false]);
  });
});

describe('BF-11 wrong codes over half sessions', () => {
  const { freeFailures, firstWait } = limits.throttle.code;

  /** Enters wrong codes, five per half session, until one is not checked. */
  async function guessUntilRefused(): Promise<number> {
    for (let looked = 0; looked < 1000; looked += 1) {
      const cookies = await halfSession(portal, 'alice');
      for (const code of wrongCodes(portal, secret, limits.codeTries))
        if ((await verify(portal, code, cookies)).statusCode === 429) return looked * limits.codeTries;
    }
    throw new Error('nobody stops this');
  }

  it('BF-11 ten are free, whatever passwords come between; then the account waits, but no other', async () => {
    expect(await guessUntilRefused()).toBe(freeFailures);
    const cookies = await halfSession(portal, 'alice');
    const right = await verify(portal, codeNow(portal, secret), cookies);
    expect([right.statusCode, right.headers['retry-after']]).toEqual([429, String(firstWait / 1000)]);
    expect(await portal.sql`select code_tries from session where code_tries not in (0, 5)`).toEqual([]);
    expect(await tried(codeNow(portal, await giveApp(portal, 'adam')), 'adam')).toBe(true);
    expect(await portal.sql`select key from throttle where key like 'account:%'`).toEqual([]);
    portal.wait(firstWait);
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies))).toBe(true);
  });
});
