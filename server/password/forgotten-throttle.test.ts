import type { Response } from 'light-my-request';
import { expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { askForReset, startAfresh } from '#testing/reset-for-test.ts';

// Two instances on one database, each with its own pool.
const portal = portalOfFile({ each: startAfresh });
const other = otherInstanceOfFile(portal);

const script = { headers: { accept: '*/*' } };
const { freeFailures, firstWait, leakEvery } = limits.throttle.address;

function seen({ statusCode, body, headers }: Response) {
  return { statusCode, body, headers: { ...headers, date: '' } };
}

it('EN-06 RC-06 an address has a hundred free requests, across two instances, for known and unknown names alike; then 429', async () => {
  const flood = (name: string, from: string) =>
    Promise.all(
      Array.from({ length: freeFailures + 20 }, (_, n) =>
        askForReset(n % 2 ? portal : other, name, { ...script, from }),
      ),
    );
  const [known, unknown] = [await flood('alice@acme.test', '192.0.2.1'), await flood('nobody@acme.test', '192.0.2.2')];
  for (const answers of [known, unknown]) {
    const counts = [204, 429].map((status) => answers.filter(({ statusCode }) => statusCode === status).length);
    expect(counts).toEqual([freeFailures, 20]);
  }
  const refused = [known, unknown].map((answers) => answers.find(({ statusCode }) => statusCode === 429) as Response);
  expect(seen(refused[0] as Response)).toEqual(seen(refused[1] as Response));
  expect(refused[0]?.headers['retry-after']).toBe(String(firstWait / 1000));
  const page = await askForReset(portal, 'nobody@acme.test', { from: '192.0.2.1' });
  expect([page.statusCode, page.headers['retry-after']]).toEqual([429, String(firstWait / 1000)]);
  expect(page.body).toMatch(/<form[^>]*action="\/portal\/password\/forgotten"/);
  expect(page.body).toMatch(/<input[^>]*name="username"[^>]*value="nobody@acme.test"/);
  expect((await askForReset(portal, 'alice@acme.test', { from: '192.0.2.3' })).statusCode).toBe(303);
  expect(
    await portal.sql`select event, reason, username, host(address) as address from audit_event order by id`,
  ).toEqual(
    ['192.0.2.1', '192.0.2.2'].map((address) => ({
      ...{ event: 'password-forgotten', reason: 'throttled-address', username: null },
      address,
    })),
  );
  other.wait(firstWait);
  expect((await askForReset(other, 'alice@acme.test', { from: '192.0.2.1' })).statusCode).toBe(303);
  portal.wait(freeFailures * leakEvery);
  expect((await askForReset(portal, 'alice@acme.test', { from: '192.0.2.2' })).statusCode).toBe(303);
});

it('sign-ins and requests for a link are counted separately', async () => {
  for (let n = 0; n <= freeFailures; n += 1) await askForReset(portal, 'nobody@acme.test', script);
  expect((await askForReset(portal, 'nobody@acme.test', script)).statusCode).toBe(429);
  expect((await portal.signIn('alice', 'wrong')).statusCode).toBe(303);
  expect(
    await portal.sql`select key from throttle where key not like 'reset-%' and key not like 'recorded:%'`,
  ).toHaveLength(3);
});
