import { expect, it } from 'vitest';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { askForReset, startAfresh } from '#testing/reset-for-test.ts';

const portal = portalOfFile({ each: startAfresh });

const script = { headers: { accept: '*/*' } };

it('PR-09 PR-11 PR-24 anything but one address is 400, counts nothing and sends nothing', async () => {
  const bodies = [
    ...['username[]=alice@acme.test&username[]=evil@x.test', 'username=alice@acme.test&username=evil@x.test'],
    ...['username=alice@acme.test&user%6eame=evil@x.test', '', 'username=', 'email=alice@acme.test', 'username=alice'],
    ...['username=alice@acme.test%2Cevil@x.test', 'username=%22evil@x.test%22@acme.test', 'username=@', 'username=a@'],
    ...[
      'username=alice@acme.test%0d%0aBcc:evil@x.test',
      'username=alice@acme.test%0aBcc:evil',
      'username=alice@acme.test%00',
    ],
    ...['username=alice%20@acme.test', 'username=%ED%A0%80@x'],
    ...['username=alice%E2%80%A8@acme.test', `username=${'x'.repeat(311)}@acme.test`],
  ];
  for (const body of bodies) {
    const answer = await portal.send({ method: 'POST', url: '/portal/password/forgotten', body, ...script });
    expect([answer.statusCode, body.slice(0, 60)]).toEqual([400, body.slice(0, 60)]);
  }
  const json = { 'content-type': 'application/json' };
  const list = JSON.stringify({ username: ['alice@acme.test', 'evil@x.test'] });
  expect(
    (await portal.send({ method: 'POST', url: '/portal/password/forgotten', body: list, headers: json })).statusCode,
  ).toBe(415);
  for (const table of ['job', 'throttle', 'audit_event'])
    expect(await portal.sql`select from ${portal.sql(table)}`, table).toHaveLength(0);
});

it('PR-24 any text shaped like an address is accepted, up to 320 characters', async () => {
  const long = (length: number) => `${'x'.repeat(length - 10)}@acme.test`;
  const addresses = [
    ...[254, 255, 320].map(long),
    'x@y',
    'x@localhost',
    '.@.',
    'ü@bücher.test',
    `${'🗝'.repeat(310)}@acme.test`,
  ];
  const hostile = [
    "'or'1'='1@x",
    '$1@x',
    '<script>@x',
    '../..@x',
    '{{7*7}}@x',
    'x@y\u0001',
    '%00@x',
    '\u202ex@y',
    '__proto__@x',
  ];
  for (const address of [...addresses, ...hostile])
    expect((await askForReset(portal, address)).statusCode, address.slice(0, 20)).toBe(303);
  await portal.workOff();
  expect(portal.mails).toHaveLength(0);
  expect(await portal.sql`select distinct reason, username from audit_event`).toEqual([
    { reason: 'unknown-user', username: null },
  ]);
});
