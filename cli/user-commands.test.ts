import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { addUser } from '#server/accounts/users.ts';
import { insertTotp } from '#server/factors/totp.ts';
import { limits } from '#server/limits.ts';
import { accountKey } from '#server/throttle/throttle-keys.ts';
import { addCustomerTo, addUserTo, commandsOfFile } from '#test/support/commands-of-file.ts';
import { countThrottleAttempt } from '#test/support/rows-for-test.ts';

let alice: string;
let bob: string;
const commands = commandsOfFile({
  each: async (sql) => {
    for (const key of ['acme', 'beta']) await addCustomerTo(sql, key);
    alice = await addUserTo(sql, 'alice');
    bob = await addUserTo(sql, 'bob');
  },
});
const vestibule = (line: string, input?: string) => commands.vestibule(line, input);
const outOf = async (line: string, input?: string) => (await vestibule(line, input)).out;
const jsonOf = async (line: string) => JSON.parse(await outOf(`${line} --json`));
const refusal = (words: string) => ({ code: 1, out: '', err: expect.stringContaining(words) });

describe('user add and set', () => {
  it('change only what is named, of a user by username or email', async () => {
    await vestibule('user set alice@acme.example --add-customer beta --language de --no-password-change --inactive');
    const first = { customers: ['acme', 'beta'], language: 'de', mayChangePassword: false, active: false };
    expect(await jsonOf('user show alice')).toMatchObject(first);
    await vestibule(
      'user set alice --remove-customer acme --language browser --password-change --active --rename Alicia --email a@new.example',
    );
    const second = { username: 'Alicia', customers: ['beta'], language: null, mayChangePassword: true, active: true };
    expect(await jsonOf('user show a@new.example')).toMatchObject(second);
    for (const name of ['ALICIA', '\uff41licia', 'a@NEW.example.'])
      expect((await jsonOf(`user show ${name}`)).username, name).toBe('Alicia');
    expect((await vestibule('user show alice@acme.example')).code).toBe(1);
    expect(await outOf('user set Alicia --customer acme')).toContain('customers: beta → acme');
    expect(await outOf('user set Alicia --customer acme')).toContain('already has these settings');
  });

  it('a display name, and groups within the customers of the user', async () => {
    await vestibule('user add eve --email eve@b.example --no-password --customer acme --name Eve --group acme:hr');
    const set = 'user set eve --add-customer beta --group beta:a,b --group acme:x --group acme:hr --name Zoë';
    expect(await outOf(set)).toMatch(/name: Eve → Zoë.*groups: acme:hr → acme:hr, acme:x, beta:a,b/s);
    expect(await jsonOf('user list zOë')).toMatchObject([{ name: 'Zoë', groups: ['acme:hr', 'acme:x', 'beta:a,b'] }]);
    expect(await vestibule('user set eve --group gamma:hr')).toEqual(refusal('gamma:hr is not of a customer'));
    expect(await vestibule('user set eve --group hr')).toEqual(refusal('"hr" is not like acme:finance'));
    expect(await outOf('user set eve --customer beta')).toContain('groups: acme:hr, acme:x, beta:a,b → beta:a,b');
    await vestibule('user set eve --no-name --no-group');
    expect(await jsonOf('user show eve')).toMatchObject({ name: null, groups: [], customers: ['beta'] });
  });

  it('a role, and the customers to look after', async () => {
    await vestibule(
      'user add olga --email olga@b.example --no-password --role operator --customer acme --administer acme',
    );
    expect(await outOf('user show olga')).toMatch(/Role +operator\nAdministers +acme/);
    for (const line of ['set olga --role none', 'remove olga --yes'])
      expect(await vestibule(`user ${line}`)).toEqual(refusal('last operator'));
    expect(await outOf('user set olga --no-administer')).toContain('administers: acme → none');
    expect(await vestibule('user set alice --administer beta')).toEqual(refusal('beta is not a customer of the user'));
  });

  it('a new password ends sessions, and so does removing it', async () => {
    await addSession(alice, 'Safari, iOS');
    await vestibule('user set alice --email a@new.example');
    expect(await jsonOf('user show alice')).toMatchObject({ sessions: 1 });
    const wait = { key: accountKey(alice), limit: limits.throttle.account };
    await countThrottleAttempt(commands.sql, wait, new Date());
    expect(await outOf('user set alice --password-stdin', 'Canary-of-the-mine-8')).toContain('sessions ended: 1');
    expect(await commands.sql`select from throttle`).toHaveLength(0);
    await addSession(alice, 'Safari, iOS');
    expect(await outOf('user set alice --no-password --yes')).toMatch(/password: removed\n.*sessions ended: 1/);
    expect(await jsonOf('user show alice')).toMatchObject({ hasPassword: false, sessions: 0 });
  });

  it.each([
    ['user add al\u00adice --email a@b.example', 'username: '],
    ['user add eve --email nonsense', 'email: '],
    ['user add ALICE --email other@b.example --no-password', 'username: another user'],
    ['user add \uff41lice --email other@b.example --no-password', 'username: another user'],
    ['user add alice@acme.example --email other@b.example --no-password', 'username: another user'],
    ['user add eve --email alice@ACME.example. --no-password', 'email: another user'],
    ['user add eve --email eve@b.example --customer nope --no-password', 'there is no customer nope'],
    ['user set alice --customer nope', 'there is no customer nope'],
    ['user set alice --password', 'No terminal to ask'],
    ['user show nobody', 'There is no user nobody.'],
    ['user remove nobody', 'There is no user nobody.'],
    ['user reset-two-factor nobody --json', 'There is no user nobody.'],
    [`user sessions alice --end ${randomUUID()}`, 'There is no session'],
    [`user passkeys alice --remove ${randomUUID()}`, 'There is no passkey'],
  ])('%j is refused and changes nothing (UN-04, UN-05, UN-08)', async (line, words) => {
    expect(await vestibule(line)).toEqual(refusal(words));
    expect(await commands.events()).toEqual([]);
  });
});

it('UN-08 of concurrent additions of one name exactly one succeeds', async () => {
  // With open connections all of them really start at once.
  await Promise.all(Array.from({ length: 10 }, () => commands.sql`select pg_sleep(0.05)`));
  for (const name of ['carol', 'dave', 'erin', 'frank']) {
    const usual = { passwordHash: null, active: true, mayChangePassword: true, language: null, customers: ['acme'] };
    const users = Array.from({ length: 10 }, (_, index) => ({
      ...{ ...usual, username: index % 2 ? name : name.toUpperCase(), email: `${name}${index}@acme.example` },
    }));
    const adding = users.map((user) => addUser(commands.sql, user, { actor: 'os:alice', now: new Date() }));
    const kinds = (await Promise.all(adding)).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['added', ...Array.from({ length: 9 }, () => 'refused')]);
  }
});

it('user invite mails a link, by names or addresses, to all or nobody', async () => {
  expect(await vestibule('user invite alice@acme.example alice')).toEqual({
    code: 0,
    out: 'User alice is invited by an email to alice@acme.example; its link works once, within 72 hours.\n',
    err: expect.stringMatching(/^SMTP_URL is not set: emails are written to .* and are not delivered\.\n$/),
  });
  expect(await jsonOf('user invite alice')).toEqual([{ invited: 'alice', email: 'alice@acme.example' }]);
  await vestibule('user set alice --inactive');
  expect(await vestibule('user invite alice nobody')).toEqual(
    refusal(
      'User alice cannot be invited: the user is inactive.\nUser nobody cannot be invited: there is no such user.\nNobody was invited.\n',
    ),
  );
  expect((await commands.events()).filter((event) => event === 'invited')).toHaveLength(2);
});

it('user list finds by part of a name and by customer, and remove removes', async () => {
  await vestibule('user set bob --customer beta --email bob@beta.example');
  expect(await outOf('user list ACME')).toMatch(/alice/);
  expect(await outOf('user list --customer beta')).not.toMatch(/alice/);
  expect(await outOf('user remove bob --yes')).toBe('User bob removed.\n');
  expect(await outOf('user list beta')).toBe('No user matches.\n');
});

it('user reset-two-factor removes the app, records it and mails; no secret is printed (LG-06)', async () => {
  const sealedSecret = Buffer.from('canary'.padEnd(28));
  await insertTotp(commands.sql, { userId: alice, sealedSecret, lastStep: 0, confirmedAt: new Date() });
  const before = await outOf('user show alice --json');
  expect(JSON.parse(before)).toMatchObject({ hasApp: true });
  expect(await outOf('user reset-two-factor alice --yes')).toBe(
    'User alice no longer has a second factor; sessions ended: 0.\n',
  );
  expect(await outOf('user show alice')).toMatch(/^Authenticator app +none$/m);
  expect(await commands.sql`select payload->>'kind' as kind, payload->>'recipient' as recipient from job`).toEqual([
    { kind: 'secondFactorRemoved', recipient: 'alice@acme.example' },
  ]);
  expect(await commands.events()).toEqual(['two-factor-reset']);
  expect(await jsonOf('user reset-two-factor alice --yes')).toEqual({ kind: 'nothing' });
  for (const text of [before, await outOf('audit --json')]) expect(text).not.toMatch(/canary|Y2FuYXJ5|63616e617279/);
});

it('user passkeys lists them and removes one, which is an event and a mail', async () => {
  const [row] = await commands.sql<{ id: string }[]>`
    insert into passkey (user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, name, made_at)
    values (${alice}, ${randomBytes(32)}, ${randomBytes(77)}, 'localhost', 0, true, true,
      'd548826e-79b4-db40-a3d8-11116f7e8349', 'My phone', now()) returning id`;
  expect(await outOf('user passkeys alice')).toMatch(
    new RegExp(`^ID +NAME +KEPT BY +BACKED UP +ADDED +LAST USED\n${row?.id}  My phone  Bitwarden  yes  .*  never\n$`),
  );
  expect(await outOf('user show alice')).toMatch(/^Passkeys +1$/m);
  expect(await vestibule(`user passkeys bob --remove ${row?.id}`)).toEqual(refusal('There is no passkey'));
  expect(await outOf(`user passkeys alice --yes --remove ${row?.id}`)).toBe(
    'Passkey removed; the sessions that it opened have ended.\n',
  );
  expect(await jsonOf('user passkeys alice')).toEqual([]);
  expect(await commands.events()).toEqual(['passkey-removed']);
  expect(await commands.sql`select payload->>'kind' as kind from job`).toEqual([{ kind: 'passkeyRemoved' }]);
});

/** Adds a session; returns its id. */
async function addSession(userId: string, browser: string, lastSeen = '1 minute', stage = 'full'): Promise<string> {
  const [row] = await commands.sql<{ id: string }[]>`
    insert into session (token_hash, user_id, stage, waits_for, customer_ids, address, browser, passkey_id, created_at, last_seen_at, ends_at)
    values (${randomBytes(32)}, ${userId}, ${stage}, ${stage === 'half' ? ['app'] : []}, '{}', '2001:db8::7',
      ${browser}, ${browser === 'Safari, iOS' ? randomUUID() : null}, now() - interval '1 hour',
      now() - ${lastSeen}::interval, now() + interval '1 hour')
    returning id`;
  return row?.id ?? '';
}

it('user sessions lists those that are alive, and ends one or all, half ones too', async () => {
  const phone = await addSession(alice, 'Safari, iOS');
  const desk = await addSession(alice, 'Firefox, Windows', '2 minutes');
  await addSession(alice, 'Chrome, Linux', '20 days');
  await addSession(bob, 'Chrome, Android');
  expect(await outOf('user sessions alice')).toMatch(
    new RegExp(
      `^ID +BROWSER +ADDRESS +BY +SIGNED IN +LAST USED\n${phone}  Safari, iOS +2001:db8::7  passkey .*\n${desk}  Firefox, Windows  2001:db8::7  password .*\n$`,
    ),
  );
  expect(await outOf('user show alice')).toMatch(/^Sessions +2$/m);
  expect(await vestibule(`user sessions bob --end ${phone}`)).toEqual(refusal(`There is no session ${phone} of bob`));
  expect(await outOf(`user sessions alice --end ${phone}`)).toBe('Session ended.\n');
  expect(await jsonOf('user sessions alice')).toMatchObject([{ id: desk, byPasskey: false, provider: null }]);
  await addSession(alice, 'Safari, iOS', '1 minute', 'half');
  expect(await jsonOf('user sign-out alice')).toEqual({ signedOut: 'alice', sessionsEnded: 3 });
  expect(await outOf('user sessions alice')).toBe('User alice is signed in nowhere.\n');
  expect(await commands.sql`select browser from session`).toEqual([{ browser: 'Chrome, Android' }]);
  expect(await commands.events()).toEqual(['user-signed-out', 'user-signed-out']);
});
