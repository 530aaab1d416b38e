import type { Response } from 'light-my-request';
import { expect, it } from 'vitest';
import { cookiesOf, testAddress, testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { askForReset, startAfresh } from '#test/support/reset-for-test.ts';
import { limits, type ThrottleLimit } from '../limits.ts';
import { originLimits } from '../throttle/throttle-keys.ts';

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

const keys = ['reset-site:2001:db8:77::/48', 'reset-total'] as const;
const failures = async () =>
  Object.fromEntries(
    (await portal.sql`select key, failures from throttle where key = any(${[...keys]}::text[])`).map((row) => [
      row.key,
      row.failures,
    ]),
  );

/** So many requests under a key: the next one waits. */
async function spent(key: string, { freeFailures: free, longestWait }: ThrottleLimit): Promise<void> {
  const until = new Date(portal.deps.now().getTime() + longestWait);
  await portal.sql`
    insert into throttle (key, failures, changed_at, blocked_until, admitted)
    values (${key}, ${free}, ${portal.deps.now()}, ${until}, true)
    on conflict (key) do update set failures = excluded.failures, blocked_until = excluded.blocked_until`;
}

it('BF-06 who asks from all over a /48 waits for all of it, and spends none of what everybody has', async () => {
  const { site } = originLimits;
  const ask = (from: string) => askForReset(portal, 'nobody@acme.test', { ...script, from });
  await ask('2001:db8:77:100::1');
  await portal.sql`update throttle set failures = ${site.freeFailures - 1} where key = ${keys[0]}`;
  const answers = [];
  for (const network of ['200', '300', '400', '500']) answers.push(await ask(`2001:db8:77:${network}::1`));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 429, 429, 429]);
  expect(answers[1]?.headers['retry-after']).toBe(String(site.firstWait / 1000));
  expect(await failures()).toEqual({ [keys[0]]: site.freeFailures, [keys[1]]: 2 });
  expect((await ask('2001:db8:78::1')).statusCode).toBe(204);
});

it('BF-06 an address that has to wait spends none of what everybody has', async () => {
  await spent(`reset-address:${testAddress}`, limits.throttle.address);
  for (let n = 0; n < 3; n += 1) expect((await askForReset(portal, 'nobody@acme.test', script)).statusCode).toBe(429);
  expect(await failures()).toEqual({});
});

it('RC-06 who signed in here before need not wait for everybody, under their own names and only those', async () => {
  const { 'vestibule-device': device = '' } = cookiesOf(await portal.signIn('alice', testPassword));
  expect(device).toHaveLength(43);
  await spent('reset-total', limits.throttle.total);
  const ask = async (name: string, cookie = device) =>
    await askForReset(portal, `${name}@acme.test`, { ...script, cookies: { 'vestibule-device': cookie } });
  const [known, ofOther, ofNobody, unknown] = [
    await ask('alice'),
    await ask('bob'),
    await ask('nobody'),
    await ask('alice', 'x'.repeat(43)),
  ];
  expect(known.statusCode).toBe(204);
  for (const answer of [ofOther, ofNobody, unknown])
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([
      429,
      String(limits.throttle.total.longestWait / 1000),
    ]);
  expect(seen(ofOther)).toEqual(seen(ofNobody));
  expect(await failures()).toEqual({ 'reset-total': limits.throttle.total.freeFailures });
  await spent(`reset-address:${testAddress}`, limits.throttle.address);
  expect((await ask('alice')).statusCode).toBe(429);
  portal.wait(limits.deviceLifetime);
  await portal.sql`delete from throttle`;
  await spent('reset-total', limits.throttle.total);
  expect((await ask('alice')).statusCode).toBe(429);
});
