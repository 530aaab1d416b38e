import { expect, it } from 'vitest';
import { addCustomerTo, commandsOfFile } from '#test/support/commands-of-file.ts';

const commands = commandsOfFile({ each: (sql) => addCustomerTo(sql, 'acme', 'Acme') });
const vestibule = (line: string, input = '', env = {}) => commands.vestibule(line, input, env);

it('customers are added, listed, changed and removed', async () => {
  const added = await vestibule('customer add beta --name Müller&李 --allow-network 203.0.113.0/24 --json');
  expect(JSON.parse(added.out)).toMatchObject({
    ...{ key: 'beta', name: 'Müller&李', allowedNetworks: ['203.0.113.0/24'], twoFactor: 'off', active: true },
    rememberDevices: true,
  });
  expect((await vestibule('customer list')).out).toMatch(
    /^KEY +NAME +USERS.*\n.*\nbeta +Müller&李 +0 +203\.0\.113\.0\/24 +off +yes +\d{4}-\d\d-\d\d .*\+0[12]:00\n$/,
  );
  const set = await vestibule(
    'customer set beta --allow-anywhere --two-factor app --disable --remember-devices off --json',
  );
  expect(JSON.parse(set.out)).toMatchObject({
    ...{ allowedNetworks: [], twoFactor: 'app', active: false, rememberDevices: false },
  });
  expect((await vestibule('customer set beta --enable')).out).toContain('active: no → yes');
  expect(JSON.parse((await vestibule('customer set beta --new-device-mail on --json')).out)).toMatchObject({
    ...{ rememberDevices: false, newDeviceMail: true },
  });
  await vestibule(
    'connection add oidc beta-idp --customer beta --domain beta.example --issuer https://idp.beta.example --client-id a --client-auth private-key --secret-ends 2099-01-31',
  );
  expect((await vestibule('customer show beta')).out).toMatch(
    /^networks +anywhere\ntwo-factor +app\n(?:.*\n)+people +0: .*\nconnection beta-idp +oidc, beta\.example, client secret ends 2099-01-31 /m,
  );
  expect(JSON.parse((await vestibule('customer show beta --json')).out)).toMatchObject({
    ...{ key: 'beta', users: 0, connections: [{ key: 'beta-idp', domains: ['beta.example'] }] },
  });
  expect((await vestibule('customer remove beta --yes')).code).toBe(0);
  expect(JSON.parse((await vestibule('customer list --json')).out)).toHaveLength(1);
  const changed = 'customer-changed';
  expect(await commands.events()).toEqual([
    'customer-added',
    changed,
    changed,
    changed,
    'connection-added',
    'customer-removed',
  ]);
});

it.each([
  ['customer add Acme', 'key: '],
  ['customer add bank --allow-network 203.0.113.5/24', 'write 203.0.113.0/24'],
  ['customer set acme --allow-network 300.1.1.1', 'network: '],
  ['customer set nobody --disable', 'There is no customer nobody.'],
  ['customer show nobody', 'There is no customer nobody.'],
  ['customer remove nobody', 'There is no customer nobody.'],
  ['customer add acme', 'customer acme already exists'],
])('%s is refused and changes nothing', async (line, words) => {
  expect(await vestibule(line)).toEqual({ code: 1, out: '', err: expect.stringContaining(words) });
  expect(await commands.events()).toEqual([]);
});

it('MF-12 where an app is begun to be required, users who prove nothing else first are counted in a warning', async () => {
  await vestibule('customer set acme --two-factor email');
  const add = 'user add bea --email bea@acme.example --customer acme --password-stdin';
  expect((await vestibule(add, 'correct horse battery staple')).code).toBe(0);
  const changed = await vestibule('customer set acme --two-factor app');
  expect(changed).toMatchObject({ code: 0, err: expect.stringContaining('nor a confirmed email: 1.') });
  expect((await vestibule('customer set acme --two-factor email')).err).toBe('');
  // A code by email comes first for whoever has confirmed one.
  await commands.sql`insert into email_factor select id, now() from portal_user where username = 'bea'`;
  expect(await vestibule('customer set acme --two-factor app')).toMatchObject({ code: 0, err: '' });
});
