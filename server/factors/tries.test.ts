import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  otherThan,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { day, limits } from '../limits.ts';

let secret: string;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
});

/** The outcomes of codes in one half session, in turn. */
async function verdicts(codes: string[], cookies: Browser): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const code of codes) all.push(verdict(await verify(portal, code, cookies)));
  return all;
}

const repeated = (value: unknown, count: number) => Array(count).fill(value);

describe('wrong codes in one half session', () => {
  it('MF-06 five are checked; then even the right code fails, and the password is required again', async () => {
    const cookies = await halfSession(portal, 'alice');
    expect(await verdicts(wrongCodes(portal, secret, 5), cookies)).toEqual(repeated(false, limits.codeTries));
    expect(await verdicts([codeNow(portal, secret)], cookies)).toEqual([[401, 'tooManyCodes']]);
    expect(await signedInAs(portal, cookies)).toBeNull();
    const page = await portal.send({ url: '/portal/twoFactor?redirectURL=%2Fportal%2Fx', cookies });
    expect(page.headers.location).toBe('/portal/login?notice=tooManyCodes&destination=%2Fportal%2Fx');
    expect(await verdicts([codeNow(portal, secret)], await halfSession(portal, 'alice'))).toEqual([true]);
  });

  it('MF-06 the fifth reports at once that it was the last, and the sign-in form keeps the name', async () => {
    const cookies = cookiesOf(await portal.signIn('alice', testPassword));
    const said: unknown[] = [];
    for (const code of wrongCodes(portal, secret, 6)) {
      const answer = await verify(portal, code, cookies);
      said.push([answer.statusCode, answer.headers['vestibule-notice']]);
      if (answer.statusCode === 200) expect(answer.body).toBe('false');
      Object.assign(cookies, cookiesOf(answer));
      const { body } = await portal.send({ url: '/portal/login', cookies });
      expect(/<input[^>]*name="username"[^>]*value="alice"/.test(body)).toBe(true);
    }
    expect(said).toEqual([...repeated([200, undefined], 4), [200, 'tooManyCodes'], [401, undefined]]);
  });

  it('MF-06 after four the fifth may be the right one', async () => {
    const cookies = await halfSession(portal, 'alice');
    const codes = [...wrongCodes(portal, secret, 4), codeNow(portal, secret)];
    expect(await verdicts(codes, cookies)).toEqual([...repeated(false, 4), true]);
  });

  it('MF-06 the same one again counts again, and so does a used one', async () => {
    const code = codeNow(portal, secret);
    await verify(portal, code, await halfSession(portal, 'alice'));
    const cookies = await halfSession(portal, 'alice');
    expect(await verdicts(repeated(code, 5) as string[], cookies)).toEqual(repeated(false, 5));
    expect(await verdicts([codeNow(portal, secret, 1)], cookies)).toEqual([[401, 'tooManyCodes']]);
  });

  it('MF-06 codes by email, recovery codes and codes of an app share the five', async () => {
    const cookies = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    const wrong = otherThan(code);
    expect(await verdicts(['AAAA-AAAA-AAAA', wrong, 'BBBBBBBBBBBB', wrong, wrong], cookies)).toEqual(
      repeated(false, 5),
    );
    expect(await verdicts([code], cookies)).toEqual([[401, 'tooManyCodes']]);
    expect(
      (
        await portal.send({
          method: 'POST',
          url: '/portal/two-factor-authentication/send',
          cookies,
          headers: { accept: '*/*' },
        })
      ).statusCode,
    ).toBe(401);
  });

  it('MF-06 a registration has five as well, and then no longer shows its secret', async () => {
    const cookies = await halfSession(portal, 'adam');
    const registration = () => portal.send({ url: '/portal/two-factor-authentication/registration', cookies });
    const { totpSecret } = (await registration()).json<{ totpSecret: string }>();
    expect(await verdicts(wrongCodes(portal, totpSecret, 5), cookies)).toEqual(repeated(false, 5));
    expect(await verdicts([codeNow(portal, totpSecret)], cookies)).toEqual([[401, 'tooManyCodes']]);
    const answer = await registration();
    expect([answer.statusCode, answer.body.includes(totpSecret)]).toEqual([401, false]);
  });

  it('MF-06 LG-05 each is recorded with its number, and so is the end', async () => {
    await verdicts(wrongCodes(portal, secret, 7), await halfSession(portal, 'alice'));
    const events = await portal.sql`
      select event, username, steps from audit_event where event like '%code%' or event like '%ended' order by id`;
    const tries = [1, 2, 3, 4, 5].map((n) => ({
      event: 'code-refused',
      username: 'alice',
      steps: [{ step: 'code', outcome: `try ${n} of 5, app` }],
    }));
    expect(events).toEqual([...tries, { event: 'second-factor-ended', username: 'alice', steps: [] }]);
  });
});

const { freeFailures, firstWait, longestWait, leakEvery } = limits.throttle.code;

const failures = async () =>
  (await portal.sql<{ failures: number }[]>`select failures from throttle where key like 'code:%'`)[0]?.failures ?? 0;

describe('BF-11 wrong codes over half sessions', () => {
  /** Enters wrong codes, five per half session, until one is not checked. */
  async function guessUntilRefused(): Promise<number> {
    for (let looked = 0; looked < 1000; looked += 1) {
      const cookies = await halfSession(portal, 'alice');
      for (const code of wrongCodes(portal, secret, limits.codeTries)) {
        const answer = await verify(portal, code, cookies);
        if (answer.statusCode === 429) {
          expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
          return looked * limits.codeTries;
        }
      }
    }
    throw new Error('nobody stops this');
  }

  it('BF-11 ten are free, however often the password is entered between them; then the account waits', async () => {
    expect(await guessUntilRefused()).toBe(freeFailures);
    const cookies = await halfSession(portal, 'alice');
    const right = await verify(portal, codeNow(portal, secret), cookies);
    expect([right.statusCode, right.headers['retry-after']]).toEqual([429, String(firstWait / 1000)]);
    expect(await failures()).toBe(freeFailures);
    expect(await portal.sql`select code_tries from session where code_tries not in (0, 5)`).toEqual([]);
    portal.wait(firstWait);
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies))).toBe(true);
  });

  it('BF-11 each further one doubles the wait, so that a day of guessing is some 160 attempts', async () => {
    const cookies = await halfSession(portal, 'alice');
    const dayOver = portal.deps.now().getTime() + day;
    const [wrong] = wrongCodes(portal, secret, 1);
    const waits: number[] = [];
    let looked = 0;
    while (portal.deps.now().getTime() < dayOver) {
      // Equivalent to a new half session each time.
      await portal.sql`update session set code_tries = 0, ends_at = 'infinity'`;
      const answer = await verify(portal, wrong, cookies);
      if (answer.statusCode === 200) looked += 1;
      else waits.push(Number(answer.headers['retry-after']) * 1000);
      if (answer.statusCode !== 200) portal.wait(waits.at(-1) as number);
    }
    expect(waits.slice(0, 5)).toEqual([1, 2, 4, 8, 16].map((times) => times * firstWait));
    expect(Math.max(...waits)).toBeLessThanOrEqual(longestWait);
    expect(looked).toBeLessThanOrEqual(freeFailures + day / leakEvery + 10);
  });

  it('BF-11 the right code resets the count, a right password does not', async () => {
    await verdicts(wrongCodes(portal, secret, 4), await halfSession(portal, 'alice'));
    await halfSession(portal, 'alice');
    expect(await failures()).toBe(4);
    await verify(portal, codeNow(portal, secret), await halfSession(portal, 'alice'));
    expect(await failures()).toBe(0);
    portal.wait(2 * step);
    expect(await guessUntilRefused()).toBe(freeFailures);
  });

  it('BF-11 wrong codes of one account affect no other, nor its own password', async () => {
    await guessUntilRefused();
    const adams = await giveApp(portal, 'adam');
    expect(await verdicts([codeNow(portal, adams)], await halfSession(portal, 'adam'))).toEqual([true]);
    expect(await portal.sql`select key from throttle where key like 'account:%'`).toEqual([]);
    expect(await halfSession(portal, 'alice')).toBeTruthy();
  });
});
