import { beforeEach, expect, it } from 'vitest';
import { field } from '#test/forgeries/forged-saml.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor, lastFailure } from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addSamlConnection(portal, acme);
  browser = browserForTest(portal);
});

const begin = async (by = browser) => samlRequestAt(await departFor(by));
/** What costs most before any signature is known. */
const costly = field(`<samlp:Response>${'<a b="&#65;">'.repeat(8_000)}`);
const bring = async (form: Record<string, string>) => await postSamlAnswer(portal, browser, form);
const refusals = async () => (await portal.sql`select from audit_event where event = 'sso-refused'`).length;

it('SA-43 an answer is not even looked at without an open visit of the browser that brings it', async () => {
  const { state: others } = await begin(browserForTest(portal));
  const { state: over } = await begin();
  await portal.sql`update visit set used_at = made_at where browser_hash <> (select browser_hash from visit order by made_at limit 1)`;
  const begun = process.threadCpuUsage();
  for (const [state, reason] of [
    ['A'.repeat(43), 'request-unknown'],
    [others, 'other-browser'],
    [over, 'request-unknown'],
  ] as const) {
    await bring({ SAMLResponse: costly, RelayState: state });
    expect((await lastFailure(portal))?.reason).toBe(reason);
  }
  expect(process.threadCpuUsage(begun).user / 1000).toBeLessThan(500);
});

it('SA-43 an answer spends its visit, whatever it holds: the next one is not read', async () => {
  const request = await begin();
  await bring({ SAMLResponse: costly, RelayState: request.state });
  expect((await lastFailure(portal))?.reason).toBe('answer-invalid');
  expect((await bring(samlAnswer(portal, acme, request))).headers.location).toMatch(/^\/portal\/loginfail\/saml/);
  expect(await refusals()).toBe(1);
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('SA-43 whoever sends too many answers that fail has to wait; a visit begins and ends meanwhile', async () => {
  await bring({ SAMLResponse: 'bm8=' });
  const until = new Date(portal.deps.now().getTime() + 60_000);
  await portal.sql`update throttle set failures = 1e6, blocked_until = ${until} where key like 'answer-%'`;
  const slowed = await bring({ SAMLResponse: 'bm8=' });
  expect([slowed.statusCode, slowed.headers['retry-after']]).toEqual([429, '60']);
  expect((await lastFailure(portal))?.reason).toBe('throttled');
  expect((await bring(samlAnswer(portal, acme, await begin()))).headers.location).toBe('/portal/portal.html');
});
