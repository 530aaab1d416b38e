import type { Response } from 'light-my-request';
import { describe, expect, it } from 'vitest';
import { testAddress } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { askForReset, startAfresh } from '#test/support/reset-for-test.ts';
import { limits } from '../limits.ts';
import { addressLimits } from '../throttle/throttle-keys.ts';

// Two instances on one database, each with its own pool.
const portal = portalOfFile({ each: startAfresh });
const other = otherInstanceOfFile(portal);
/** For queries by the test itself. */
const aside = poolOfFile(portal);

const script = { headers: { accept: '*/*' } };

/** Everything a visitor can see of an answer, except its time. */
function seen({ statusCode, rawPayload, headers }: Response) {
  return { statusCode, body: rawPayload.toString('hex'), headers: { ...headers, date: '' } };
}

/** One of each kind: known by email or as a second account, unknown, and users who get no link. */
const names = ['alice', 'carol', 'nobody', 'dave', 'erin', 'frank', 'sso-only'].map((name) => `${name}@acme.test`);

it('EN-05 every name gets a byte-identical answer', async () => {
  for (const more of [{}, script]) {
    const answers = await Promise.all(names.map((name) => askForReset(portal, name, more)));
    for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0] as Response));
  }
  const page = await askForReset(portal, 'alice@acme.test');
  expect([page.statusCode, page.headers.location, page.body]).toEqual([303, '/portal/emailInfo', '']);
  const call = await askForReset(portal, 'nobody@acme.test', script);
  expect([call.statusCode, call.body, call.headers['set-cookie']]).toEqual([204, '', undefined]);
  const inGerman = await askForReset(portal, 'nobody@acme.test', { url: '/portal/password/forgotten?lang=de' });
  expect(inGerman.headers.location).toBe('/portal/emailInfo?lang=de');
});

it('EN-05 nothing is looked up or queued before the answer: it arrives while every table that tells of names is locked', async () => {
  await aside.begin(async (sql) => {
    await sql`
      lock table login_name, membership, customer, reset_link, audit_event, session, device
      in access exclusive mode`;
    for (const name of names) expect((await askForReset(portal, name)).statusCode).toBe(303);
  });
  expect(await portal.sql`select from audit_event`).toHaveLength(0);
  const waiting = await portal.sql`select queue, payload, made_at from job order by payload->>'fold'`;
  const payload = { language: 'en', address: '198.51.100.7', requestId: expect.any(String), destination: null };
  const asked = { queue: 'reset-request', made_at: portal.deps.now() };
  expect(waiting).toEqual([...names].sort().map((fold) => ({ ...asked, payload: { fold, ...payload } })));
});

it('PR-09 PR-11 PR-24 anything but one address is 400, counts nothing and sends nothing', async () => {
  const url = '/portal/password/forgotten';
  const alice = 'username=alice@acme.test';
  for (const body of [
    ...[
      'username[]=alice@acme.test&username[]=evil@x.test',
      `${alice}&username=evil@x.test`,
      `${alice}&user%6eame=e@x`,
    ],
    ...['', 'username=', 'email=alice@acme.test', 'username=alice', 'username=a@', 'username=%ED%A0%80@x'],
    ...['%2Cevil@x.test', '%0d%0aBcc:evil@x.test', '%0aBcc:evil', '%00'].map((end) => alice + end),
    ...['username=%22evil@x.test%22@acme.test', 'username=alice%20@acme.test', 'username=alice%E2%80%A8@acme.test'],
    `username=${'x'.repeat(311)}@acme.test`,
  ]) {
    const { statusCode } = await portal.send({ method: 'POST', url, body, ...script });
    expect(statusCode, body.slice(0, 60)).toBe(400);
  }
  const body = JSON.stringify({ username: ['alice@acme.test', 'evil@x.test'] });
  const headers = { 'content-type': 'application/json' };
  expect((await portal.send({ method: 'POST', url, body, headers })).statusCode).toBe(415);
  for (const table of ['job', 'throttle', 'audit_event'])
    expect(await portal.sql`select from ${portal.sql(table)}`, table).toHaveLength(0);
});

describe('how many requests an origin may send', () => {
  const { freeFailures, firstWait, leakEvery } = limits.throttle.address;
  const failures = async (key: string) =>
    (await portal.sql`select failures from throttle where key = ${key}`)[0]?.failures ?? 0;

  it('EN-06 RC-06 a hundred, across two instances, for known and unknown names alike; then 429', async () => {
    const flood = (name: string, from: string) =>
      Promise.all(
        Array.from({ length: freeFailures + 20 }, (_, n) =>
          askForReset(n % 2 ? portal : other, name, { ...script, from }),
        ),
      );
    const answers = [await flood('alice@acme.test', '192.0.2.1'), await flood('nobody@acme.test', '192.0.2.2')];
    for (const some of answers) {
      const counts = [204, 429].map((status) => some.filter(({ statusCode }) => statusCode === status).length);
      expect(counts).toEqual([freeFailures, 20]);
    }
    const [known, unknown] = answers.map((some) => some.find(({ statusCode }) => statusCode === 429) as Response);
    expect(seen(known as Response)).toEqual(seen(unknown as Response));
    expect(known?.headers['retry-after']).toBe(String(firstWait / 1000));
    const page = await askForReset(portal, 'nobody@acme.test', { from: '192.0.2.1' });
    expect([page.statusCode, page.headers['retry-after']]).toEqual([429, String(firstWait / 1000)]);
    expect(page.body).toMatch(/<form[^>]*action="\/portal\/password\/forgotten"/);
    expect(page.body).toMatch(/<input[^>]*name="username"[^>]*value="nobody@acme.test"/);
    expect((await askForReset(portal, 'alice@acme.test', { from: '192.0.2.3' })).statusCode).toBe(303);
    expect((await portal.signIn('alice', 'wrong', { from: '192.0.2.1' })).statusCode).toBe(303);
    const events = await portal.sql`
      select username, host(address) as address from audit_event where reason = 'throttled-address' order by id`;
    expect(events).toEqual(['192.0.2.1', '192.0.2.2'].map((address) => ({ username: null, address })));
    other.wait(firstWait);
    expect((await askForReset(other, 'alice@acme.test', { from: '192.0.2.1' })).statusCode).toBe(303);
    portal.wait(freeFailures * leakEvery);
    expect((await askForReset(portal, 'alice@acme.test', { from: '192.0.2.2' })).statusCode).toBe(303);
  });

  it('BF-06 who asks from all over a /48 waits for all of it, and who has to wait spends none of what everybody has', async () => {
    const { site } = addressLimits;
    const ask = (from: string) => askForReset(portal, 'nobody@acme.test', { ...script, from });
    await ask('2001:db8:77:100::1');
    await portal.sql`
      update throttle set failures = ${site.freeFailures - 1} where key = 'reset-site:2001:db8:77::/48'`;
    const answers = [];
    for (const network of ['200', '300', '400', '500']) answers.push(await ask(`2001:db8:77:${network}::1`));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 429, 429, 429]);
    expect(answers[1]?.headers['retry-after']).toBe(String(site.firstWait / 1000));
    expect(await failures('reset-total')).toBe(2);
    expect((await ask('2001:db8:78::1')).statusCode).toBe(204);
    await ask(testAddress);
    await portal.sql`
      update throttle set failures = ${freeFailures}, blocked_until = ${new Date(portal.deps.now().getTime() + 1)}
      where key = ${`reset-address:${testAddress}`}`;
    for (let n = 0; n < 3; n += 1) expect((await ask(testAddress)).statusCode).toBe(429);
    expect(await failures('reset-total')).toBe(4);
  });
});
