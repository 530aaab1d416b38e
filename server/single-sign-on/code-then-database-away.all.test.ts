import { expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { cuttableDatabase } from '#testing/cuttable-database.ts';
import { databaseForTest } from '#testing/database-for-test.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { portalForTest } from '#testing/portal-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#testing/sso-for-test.ts';
import { codeByMail } from '#testing/two-factor-for-test.ts';

const database = sharedByFile(databaseForTest);
const wire = sharedByFile(() => cuttableDatabase(database));
const portal = sharedByFile(() => portalForTest({}, { database }, { sql: wire.sql }));
const provider = sharedByFile(() => startForgedProvider(portal.deps));

it('a right code signs in, even if the database goes down as soon as the session is stored', async () => {
  await addCustomer(portal, 'acme', { twoFactor: 'email' });
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, provider);
  provider.bend({
    claims: (honest) => ({ ...honest, sub: '7', email: 'alice@acme.test', email_verified: true }),
  });
  const browser = browserForTest(portal);
  await browser.get(pathOf(provider.visit(await departFor(browser, 'alice@acme.test'))));
  const code = await codeByMail(portal, 'alice');
  portal.deps.wake.mails = () => wire.cut();
  const answer = await browser.post('/portal/two-factor-authentication/verify', { code });
  wire.mend();
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/portal.html']);
  expect(await signedInAs(portal, browser.cookies)).toBe('alice');
});
