import { beforeAll, beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  type SamlProviderForTest,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { type BrowserForTest, browserForTest, departFor } from '#testing/sso-for-test.ts';

// Alice has a visit open in a second tab when her turn ends without a page of ours; the next person's answer is refused.

let saml: SamlProviderForTest;
const portal = portalOfFile();
beforeAll(async () => {
  saml = await samlProvider('idp.acme.test', portal.deps.now());
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addSamlConnection(portal, saml);
});
let browser: BrowserForTest;
let visit: string;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'throttle', 'sso_request');
  browser = browserForTest(portal);
  const posted = await answer(samlRequestAt(await departFor(browser)));
  await browser.get(String(posted.headers.location), crossSite);
  expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  visit = await departFor(browser, 'alice@acme.test', { redirectURL: '/portal/portal.html?report=7' });
});

const answer = async (request: ReturnType<typeof samlRequestAt>) =>
  await postSamlAnswer(portal, browser, samlAnswer(portal, saml, request));
const refusedAnswer = async () => await answer({ ...samlRequestAt(visit), id: '_another' });

it('shows its own person what they typed and where they were going', async () => {
  const { headers } = await refusedAnswer();
  expect(headers.location).toBe(
    `/portal/loginfail/saml?destination=${encodeURIComponent('/portal/portal.html?report=7')}`,
  );
  expect((await browser.get(String(headers.location))).body.includes('"typedUsername":"alice@acme.test"')).toBe(true);
});

it('SE-15 shows the next person neither, after a sign-out whose response was lost', async () => {
  await portal.send({ method: 'POST', url: '/portal/logout', cookies: { ...browser.cookies } });
  const { headers } = await refusedAnswer();
  expect(headers.location).toBe('/portal/loginfail/saml');
  expect(browser.cookies).toHaveProperty('vestibule-signed-out');
  expect((await browser.get('/portal/loginfail/saml')).body.includes('alice')).toBe(false);
});
