import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { tokenHash } from '#server/secrets/token.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { poolOfFile } from '#testing/pool-of-file.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
} from '#testing/two-factor-for-test.ts';

// One browser, two people: its second sign-in is sent before the response to the first one's code has been read.

const portal = portalOfFile({ each: startTwoFactorAfresh });
const pool = poolOfFile(portal);

it('SE-15 a code’s late response does not bring back the person before, once another one has signed in', async () => {
  const secret = await giveApp(portal, 'alice');
  const half = await halfSession(portal, 'alice');
  const late = cookiesOf(await verifyByForm(portal, { code: codeNow(portal, secret) }, half));
  expect(await signedInAs(portal, late)).toBe('alice');
  const pat = cookiesOf(await portal.signIn('pat', testPassword, { cookies: half }));
  expect([await signedInAs(portal, late), await signedInAs(portal, pat)]).toEqual([null, 'pat']);
  // Nor does the second press of the code’s button.
  const again = cookiesOf(await verifyByForm(portal, { code: codeNow(portal, secret) }, half));
  expect(await signedInAs(portal, { ...pat, ...again })).toBe('pat');
});

it('SE-15 nor if both are stored at the same moment', async () => {
  const half = await halfSession(portal, 'bob');
  const code = await codeByMail(portal, 'bob');
  const hash = tokenHash(half['vestibule-session'] as string);
  const release = await holdRows(pool, (sql) => sql`select from session where token_hash = ${hash} for key share`);
  const verifying = verify(portal, code, half);
  await untilWaiting(pool, 1);
  const signingIn = portal.signIn('pat', testPassword, { cookies: half });
  await untilWaiting(pool, 2);
  await release();
  const [answer, pat] = [await verifying, cookiesOf(await signingIn)];
  expect(verdict(answer)).toBe(true);
  expect([await signedInAs(portal, cookiesOf(answer)), await signedInAs(portal, pat)]).toEqual([null, 'pat']);
});

it('SE-09 a sign-out sent before the response to a password ends the session that it opened', async () => {
  const before = cookiesOf(await portal.signIn('pat', testPassword));
  const after = cookiesOf(await portal.signIn('pat', testPassword, { cookies: before }));
  expect([await signedInAs(portal, before), await signedInAs(portal, after)]).toEqual([null, 'pat']);
  await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: before });
  expect(await signedInAs(portal, after)).toBeNull();
});

it('SE-15 a sign-out with the cookie of a full session that a half one has replaced ends the turn', async () => {
  const pat = cookiesOf(await portal.signIn('pat', testPassword));
  for (const press of [1, 2]) {
    if (press === 1) await halfSession(portal, 'bob', { cookies: pat });
    const out = cookiesOf(await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: pat }));
    expect(out['vestibule-signed-out']).toMatch(/^.{43}$/);
  }
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('a replaced token ends the session that came next only while the response may be unread', async () => {
  const dead = cookiesOf(await portal.signIn('pat', testPassword));
  await portal.sql`delete from session`;
  const pat = cookiesOf(await portal.signIn('pat', testPassword, { cookies: dead }));
  portal.wait(limits.responseUnread);
  await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: dead });
  expect(await signedInAs(portal, pat)).toBe('pat');
  // Browsers that were copied with that cookie in them do not sign each other out.
  await halfSession(portal, 'bob', { cookies: dead });
  expect(await signedInAs(portal, pat)).toBe('pat');
});

it('a session is ended by no older token of its browser than the one it replaced', async () => {
  const first = cookiesOf(await portal.signIn('pat', testPassword));
  const second = cookiesOf(await portal.signIn('pat', testPassword, { cookies: first }));
  const third = cookiesOf(await portal.signIn('pat', testPassword, { cookies: second }));
  await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: first });
  expect(await signedInAs(portal, third)).toBe('pat');
});

describe('of one person’s two submits of the form', () => {
  /** The responses to two submits, both sent with the old cookies. */
  const twice = async () => {
    const before = cookiesOf(await portal.signIn('pat', testPassword));
    const submits = [1, 2].map(async () => cookiesOf(await portal.signIn('pat', testPassword, { cookies: before })));
    const [late = {}, read = {}] = await Promise.all(submits);
    expect([await signedInAs(portal, late), await signedInAs(portal, read)]).toEqual(['pat', 'pat']);
    return { late, read, before };
  };

  it('SE-09 a sign-out ends both sessions, whichever response it follows', async () => {
    for (const which of ['read', 'before'] as const) {
      const { late, read, ...more } = await twice();
      const cookies = { read, ...more }[which];
      await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies });
      expect([await signedInAs(portal, late), await signedInAs(portal, read)]).toEqual([null, null]);
    }
  });

  it('SE-15 the next person’s sign-in ends both', async () => {
    const { late, read } = await twice();
    const half = await halfSession(portal, 'bob', { cookies: read });
    expect([await signedInAs(portal, late), await signedInAs(portal, read)]).toEqual([null, null]);
    expect(await signedInAs(portal, half)).toBeNull();
  });
});
