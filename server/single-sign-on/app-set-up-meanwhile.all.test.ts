import { beforeEach, expect, it } from 'vitest';
import { resetTwoFactor } from '#server/accounts/act-on-user.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase, holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { browserForTest, departFor } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp, registrationUrl, verdict, verify } from '#test/support/two-factor-for-test.ts';
import { tokenHash } from '../crypto/token.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');
const pool = poolOfFile(portal);
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'uma', passwordHash: null });
  await addSamlConnection(portal, acme);
});

/** Comes back from the provider as uma: `end` brings the answer. */
async function broughtBack(browser = browserForTest(portal)) {
  const request = samlRequestAt(await departFor(browser, 'uma@acme.test'));
  const answer = samlAnswer(portal, acme, request, { email: 'uma@acme.test' });
  return { browser, end: () => postSamlAnswer(portal, browser, answer) };
}

/** Signed in as uma, with the code of an app awaiting confirmation. */
async function settingUp() {
  const { browser, end } = await broughtBack();
  await end();
  const { cookies } = browser;
  const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
  return { code: codeNow(portal, totpSecret), cookies };
}

it('RC-08 a sign-in by a provider that waits for an app to be confirmed asks for its code', async () => {
  const own = await settingUp();
  const { browser, end } = await broughtBack();
  const release = await holdRows(pool, (sql) => sql`select from session for update`);
  const confirming = verify(portal, own.code, own.cookies);
  await untilWaiting(pool, 1);
  const signingIn = end();
  await Promise.race([signingIn, untilWaiting(pool, 2)]);
  await release();
  expect(verdict(await confirming)).toBe(true);
  expect(String((await signingIn).headers.location)).toContain('/twoFactor?');
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it('RC-08 one that is being stored when the code arrives ends with the confirmation', async () => {
  const own = await settingUp();
  const { browser, end: first } = await broughtBack();
  await first();
  const replaced = tokenHash(browser.cookies['vestibule-session'] as string);
  const { end } = await broughtBack(browser);
  const release = await holdRows(pool, (sql) => sql`select from session where token_hash = ${replaced} for update`);
  const signingIn = end();
  await untilWaiting(pool, 1);
  const confirming = verify(portal, own.code, own.cookies);
  await Promise.race([confirming, untilWaiting(pool, 2)]);
  await release();
  expect(verdict(await confirming)).toBe(true);
  await signingIn;
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
  expect(await pool`select stage from session`).toEqual([{ stage: 'full' }]);
});

it('RC-08 one that waits for an app to be removed does not ask for its code', async () => {
  await giveApp(portal, 'uma');
  const { browser, end } = await broughtBack();
  const release = await holdRows(pool, (sql) => sql`select from totp for update`);
  const resetting = resetTwoFactor(pool, 'uma', portal.deps.now());
  await untilWaiting(pool, 1);
  const signingIn = end();
  await untilWaiting(pool, 2);
  await release();
  expect(await resetting).toMatchObject({ kind: 'removed' });
  await signingIn;
  expect(await signedInAs(portal, browser.cookies)).toBe('uma');
});
