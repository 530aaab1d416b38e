import { beforeEach, describe, expect, it } from 'vitest';
import { day } from '#server/limits.ts';
import { listSsoConnections } from '#server/storage/sso-connection.ts';
import { warnOfEnds } from '#server/upkeep/housekeeping.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { oidcConnection, startVisit } from '#testing/oidc-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
} from '#testing/sso-for-test.ts';
import { changeConnection } from '../change-connection.ts';
import type { OidcKept } from '../request-details.ts';
import { sharedRedirectWarnings } from '../shared-redirect-warnings.ts';
import { readOidcAnswer } from './oidc.ts';

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

  it('OI-31 nor does a provider that still uses the shared redirect URI get it', async () => {
    await share('evil-oidc');
    const { answer } = await mixUp();
    expect((await victim.get(pathOf(answer))).headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    expect(evil.tokenRequests).toHaveLength(0);
    expect((await lastFailure(portal))?.steps[0]?.outcome).toBe(
      `the answer came to /portal/authenticate/oidc/callback/acme-oidc, and is expected at ${origin}/portal/authenticate/oidc/callback`,
    );
  });

  it('OI-31 nor if the honest provider uses the shared redirect URI', async () => {
    await share('acme-oidc');
    const { answer } = await mixUp();
    expect(answer.pathname).toBe('/portal/authenticate/oidc/callback');
    expect((await victim.get(pathOf(answer))).headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    expect(evil.tokenRequests).toHaveLength(0);
  });

  it.each(['', '/', '/other', '/evil-oidc', '/ACME-OIDC', '/acme-oidc%2F', '/%00', '/acme-oidc%20'])(
    'OI-31 an answer at …/callback%s does not belong to this connection',
    async (path) => {
      const answer = honest.visit(await departFor(victim));
      const elsewhere = `/portal/authenticate/oidc/callback${path}${answer.search}`;
      const { statusCode, headers } = await victim.get(elsewhere);
      expect([303, 404]).toContain(statusCode);
      if (statusCode === 303) expect(headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
      expect(honest.tokenRequests.some(({ form }) => form.get('code') === answer.searchParams.get('code'))).toBe(false);
      expect(await sessions()).toBe(0);
    },
  );
});

const origin = 'http://localhost:8080';

/** Makes a connection like those from before each had its own redirect URI. */
async function share(key: string, until = new Date('2027-01-01')): Promise<void> {
  await portal.sql`update sso_connection set shared_redirect_until = ${until} where key = ${key}`;
}

describe('a connection that was there before each had a redirect URI of its own', () => {
  const redirectUriOf = (url: string) => new URL(url).searchParams.get('redirect_uri');

  it('OI-31 uses the shared one until its date, then its own', async () => {
    await share('acme-oidc', new Date(portal.deps.now().getTime() + day));
    const url = await departFor(victim);
    expect(redirectUriOf(url)).toBe(`${origin}/portal/authenticate/oidc/callback`);
    expect((await victim.get(pathOf(honest.visit(url)))).headers.location).toBe('/portal/portal.html');
    portal.wait(day);
    const next = await departFor(attacker);
    expect(redirectUriOf(next)).toBe(`${origin}/portal/authenticate/oidc/callback/acme-oidc`);
    expect((await attacker.get(pathOf(honest.visit(next)))).headers.location).toBe('/portal/portal.html');
  });

  it('OI-31 a person at the provider during the change returns by the address they left with', async () => {
    await share('acme-oidc');
    const answer = honest.visit(await departFor(victim));
    await changeConnection(portal.deps, 'acme-oidc', { sharedRedirectUntil: null }, portal.deps.now());
    expect((await victim.get(pathOf(answer))).headers.location).toBe('/portal/portal.html');
    expect(redirectUriOf(await departFor(victim))).toBe(`${origin}/portal/authenticate/oidc/callback/acme-oidc`);
  });

  it('OI-31 a visit begun by an earlier version returns to the shared one', async () => {
    const connection = oidcConnection(portal.deps, honest);
    const { url, state, kept } = await startVisit(portal.deps, { ...connection, sharedRedirectUntil: inFuture() });
    const { redirectUri: _, ...before } = kept;
    const answer = { state, kept: before as OidcKept, url: honest.visit(url) };
    expect(await readOidcAnswer(portal.deps, connection, answer)).toMatchObject({ kind: 'ok' });
  });

  it('OI-31 causes a warning with what to register and by when', async () => {
    await share('acme-oidc', new Date('2027-01-01'));
    await share('evil-oidc', new Date(0));
    const warnings = sharedRedirectWarnings(
      await listSsoConnections(portal.sql),
      portal.deps.config,
      portal.deps.now(),
    );
    expect(warnings).toEqual([
      `connection acme-oidc uses the shared redirect URI, which expires on 2027-01-01 – register ${origin}/portal/authenticate/oidc/callback/acme-oidc at its provider, then vestibule connection set acme-oidc --own-redirect-uri`,
      expect.stringMatching(
        /^connection evil-oidc used the shared redirect URI, which expired on 1970-01-01; nobody can return/,
      ),
    ]);
    await warnOfEnds(portal.deps);
    expect(portal.logs()).toContain('connection acme-oidc uses the shared redirect URI');
  });
});

const inFuture = () => new Date(portal.deps.now().getTime() + day);
