import { expect, it } from 'vitest';
import { newToken, tokenHash } from '#server/secrets/token.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { deleteReplacedSessions, keepNewestReplacement } from './replaced-session.ts';
import { insertSession } from './session.ts';
import { takeSession } from './signed-out-session.ts';

const portal = portalOfFile();
const other = otherInstanceOfFile(portal);

it('sign-ins and sign-outs that end the same sessions at once never deadlock', { timeout: 60_000 }, async () => {
  await addCustomer(portal, 'acme');
  const users: string[] = [];
  for (let number = 0; number < 8; number += 1) users.push(await addUser(portal, { username: `user${number}` }));
  const now = portal.deps.now();
  const endsAt = new Date(now.getTime() + 60_000);
  const nowhere = {
    ...{ connectionId: null, visitId: null, sealedIdToken: null, providerSubjectHash: null },
    ...{ providerSessionHash: null, providerEndsAt: null, authenticatedAt: null },
  };
  for (let round = 0; round < 60; round += 1) {
    const before = tokenHash(newToken());
    for (const userId of users) {
      const session = {
        waitsFor: null,
        proven: 'none',
        proof: 'password',
        provenAt: null,
        customerIds: [],
        address: '192.0.2.1',
        browser: null,
        origin: nowhere,
      } as const;
      const tokens = { tokenHash: tokenHash(newToken()), replacedTokenHash: before };
      await insertSession(portal.sql, { ...session, customerIds: [], ...tokens, userId, now, endsAt });
    }
    const own = { tokenHash: tokenHash(newToken()), unlessSignedOut: null, now };
    const done = Array.from({ length: 14 }, async (_, number) => {
      const sql = number % 2 === 0 ? portal.sql : other.pool;
      const userId = users[number % users.length] as string;
      if (number % 5 === 4) await takeSession(sql, before, { markHashes: [], now, keptUntil: endsAt });
      else if (number % 3 === 0) await keepNewestReplacement(sql, before, own);
      else await deleteReplacedSessions(sql, { tokenHash: before, userId, now, idleSince: new Date(0) });
    });
    const failed = (await Promise.allSettled(done)).filter(({ status }) => status === 'rejected');
    expect(failed).toEqual([]);
  }
});
