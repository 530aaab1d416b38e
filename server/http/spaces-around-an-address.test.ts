import { expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { addSamlConnection, samlProvider } from '#test/support/saml-for-test.ts';

const portal = portalOfFile({
  each: async (portal) => {
    await emptyDatabase(portal);
    await addCustomer(portal, 'acme');
    await addUser(portal, { username: 'alice' });
    await addSamlConnection(portal, await samlProvider('idp.acme.test', portal.deps.now()));
  },
});

const toScript = { accept: '*/*', 'sec-fetch-mode': 'cors' };

it.each<[string, object, object, RegExp | undefined]>([
  ['performlogin', { password: testPassword }, {}, /portal\.html$/],
  ['authenticate/performSsoLogin', {}, {}, /authenticate\/leave/],
  ['password/forgotten', {}, {}, /emailInfo$/],
  ['password/forgotten', {}, toScript, undefined],
])('spaces around an address do not matter to %s', async (call, more, headers, leadsTo) => {
  const url = `/portal/${call}`;
  for (const username of [' alice@acme.test', 'alice@acme.test ', '\talice@acme.test\u00a0', 'alice@acme.test\r\n']) {
    const form = { username, ...more };
    const { statusCode, headers: answer } = await portal.send({ method: 'POST', url, form, headers: { ...headers } });
    if (leadsTo) expect(answer.location, JSON.stringify(username)).toMatch(leadsTo);
    else expect(statusCode).toBe(204);
  }
  await portal.workOff();
  if (call === 'password/forgotten') expect(portal.mails.at(-1)?.recipient).toContain('alice@acme.test');
});
