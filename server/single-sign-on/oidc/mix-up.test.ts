import { beforeEach, describe, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  pathOf,
} from '#test/support/sso-for-test.ts';

let victim: BrowserForTest;
let attacker: BrowserForTest;
const portal = portalOfFile();
const honest = sharedByFile(() => startForgedProvider(portal.deps));
const evil = sharedByFile(() => startForgedProvider(portal.deps));
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'evil');
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, honest);
  await addOidcConnection(portal, evil, { key: 'evil-oidc', customerKey: 'evil', domains: ['evil.test'] });
  honest.bend({ claims: (said) => ({ ...said, email: 'alice@acme.test' }) });
  evil.tokenRequests.length = 0;
  honest.tokenRequests.length = 0;
  victim = browserForTest(portal);
  attacker = browserForTest(portal);
});

const sessions = async () => (await portal.sql`select from session where stage = 'full'`).length;

/**
 * The mix-up of RFC 9700 §4.4: the victim begins at the attacker's provider, which redirects to the honest one with the
 * victim's state, and with nonce and PKCE challenge of the attacker's own visit there.
 */
async function mixUp(): Promise<{ attackers: string; answer: URL }> {
  const attackers = await departFor(attacker, 'anybody@acme.test');
  const victims = new URL(await departFor(victim, 'alice@evil.test'));
  const bounced = new URL(attackers);
  bounced.searchParams.set('state', victims.searchParams.get('state') ?? '');
  return { attackers, answer: honest.visit(bounced.href) };
}

describe('OI-31 mix-up between connections', () => {
  it('OI-31 an honest provider’s code reaches no token endpoint of another connection, and signs in nobody', async () => {
    const { attackers, answer } = await mixUp();
    const shown = await victim.get(pathOf(answer));
    const leaked = evil.tokenRequests[0]?.form.get('code');
    // What the attacker would do with it: finish their own visit, whose verifier matches the code.
    const injected = honest.visit(attackers);
    injected.searchParams.set('code', leaked ?? 'none');
    const taken = await attacker.get(pathOf(injected));
    expect(taken.headers.location).not.toBe('/portal/portal.html');
    expect(evil.tokenRequests).toHaveLength(0);
    expect(shown.headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    expect(await sessions()).toBe(0);
  });

  it('OI-31 an answer at another address does not belong to this connection', async () => {
    for (const path of ['', '/', '/other', '/evil-oidc', '/ACME-OIDC', '/acme-oidc%2F', '/%00', '/acme-oidc%20']) {
      const answer = honest.visit(await departFor(victim));
      const { statusCode } = await victim.get(`/portal/authenticate/oidc/callback${path}${answer.search}`);
      expect([303, 404], path).toContain(statusCode);
      expect(honest.tokenRequests, path).toEqual([]);
    }
    expect(await sessions()).toBe(0);
  });
});
