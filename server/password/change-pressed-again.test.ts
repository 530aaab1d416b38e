import { beforeEach, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  changedPage,
  changeTo,
  failedPage,
  linkFor,
  newPassword,
  startAfresh,
  storedHash,
} from '#testing/reset-for-test.ts';

// A double click without JavaScript, or a second press after the answer to the first was lost on the way.
const portal = portalOfFile({ each: startAfresh });

let token: string;
beforeEach(async () => {
  token = await linkFor(portal, 'alice');
  portal.wait(60_000);
  expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
});

const again = async (password: string, more = {}) => (await changeTo(portal, token, password, more)).headers.location;

it('RC-05 the same form again, within a minute, says that the password is changed, and changes nothing', async () => {
  const before = await storedHash(portal, 'alice');
  await portal.workOff();
  portal.mails.length = 0;
  for (const time of [0, limits.responseUnread - 1]) {
    portal.wait(time);
    expect(await again(newPassword)).toBe(changedPage);
  }
  expect(await storedHash(portal, 'alice')).toBe(before);
  await portal.workOff();
  expect(portal.mails).toEqual([]);
  expect(await portal.sql`select from audit_event where event = 'password-changed'`).toHaveLength(1);
});

it('later, or with another password, the link was used', async () => {
  expect(await again('Lantern-Harbour-99')).toBe(failedPage(3));
  portal.wait(limits.responseUnread);
  expect(await again(newPassword)).toBe(failedPage(3));
});

it('BF-11 whoever has the used link cannot guess the new password: each attempt counts, and more are not made', async () => {
  for (let guess = 0; guess <= limits.throttle.account.freeFailures; guess += 1)
    expect(await again(`Lantern-Harbour-${guess}`, { from: `192.0.2.${guess}` })).toBe(failedPage(3));
  expect(await again(newPassword)).toBe(failedPage(3));
});
