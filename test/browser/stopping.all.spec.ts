import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, password, startPortalWithUsers, test } from './test.ts';

test('SIGTERM finishes the sign-ins in progress, then stops the database too', async () => {
  test.setTimeout(120_000);
  const portal = await startPortalWithUsers();
  try {
    const underWay = Array.from({ length: 8 }, () => portal.signInPlainly('ada', password));
    await Promise.race(underWay);
    const stopping = portal.stop();
    const sessions = await Promise.all(underWay);
    expect(sessions.filter((session) => session === null)).toEqual([]);
    expect(await stopping).toBe(0);
    expect(portal.log).not.toContain(password);
    expect(existsSync(join(portal.env.VESTIBULE_DATA as string, 'postgres/postmaster.pid'))).toBe(false);

    await portal.start();
    for (const session of sessions) expect(await portal.userOfSession(session as string)).toBe('ada');
  } finally {
    await portal.discard();
  }
});
