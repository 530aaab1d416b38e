import { beforeEach } from 'vitest';
import { type ForgedProvider, startForgedProvider } from '../providers/forged-openid-provider.ts';
import { addCustomer, addUser, signedInAs } from './accounts-for-test.ts';
import type { PortalForTest } from './portal-for-test.ts';
import { portalOfFile, sharedByFile } from './portal-of-file.ts';
import { emptyDatabase } from './rows-for-test.ts';
import { addSamlConnection, type SamlProviderForTest, samlProviderOfFile } from './saml-for-test.ts';
import { addOidcConnection, type BrowserForTest, lastFailure } from './sso-for-test.ts';

type Person = Parameters<typeof addUser>[1];

/** What a file's tests of single sign-on begin with, each anew. */
type Beginning<Saml extends string, Oidc extends string> = {
  /** Users, by name alone those at acme.test and of the customer acme. There is a customer beta, too. */
  people?: (string | Person)[];
  /** SAML connections, each of a provider of its own. */
  saml?: Record<Saml, Parameters<typeof addSamlConnection>[2]>;
  /** The same by OpenID Connect. */
  oidc?: Record<Oidc, Parameters<typeof addOidcConnection>[2]>;
  also?: (portal: PortalForTest) => unknown;
};

/** The portal that the tests of a file share, with providers, and what is asked of it most. */
export function ssoOfFile<Saml extends string = never, Oidc extends string = never>({
  people = ['alice'],
  saml = {} as never,
  oidc = {} as never,
  also,
}: Beginning<Saml, Oidc>) {
  const portal = portalOfFile();
  const idps = {} as Record<Saml, SamlProviderForTest>;
  for (const name of Object.keys(saml) as Saml[]) idps[name] = samlProviderOfFile(portal, `idp.${name}.test`);
  const ops = {} as Record<Oidc, ForgedProvider>;
  for (const name of Object.keys(oidc) as Oidc[]) ops[name] = sharedByFile(() => startForgedProvider(portal.deps));
  beforeEach(async () => {
    await emptyDatabase(portal);
    portal.mails.length = 0;
    for (const key of ['acme', 'beta']) await addCustomer(portal, key);
    for (const person of people) await addUser(portal, typeof person === 'string' ? { username: person } : person);
    for (const name of Object.keys(saml) as Saml[]) await addSamlConnection(portal, idps[name], saml[name]);
    for (const name of Object.keys(oidc) as Oidc[]) await addOidcConnection(portal, ops[name], oidc[name]);
    await also?.(portal);
  });
  return {
    portal,
    idps,
    ops,
    who: ({ cookies }: BrowserForTest) => signedInAs(portal, cookies),
    sessions: async () => (await portal.sql`select from session`).length,
    reason: async () => (await lastFailure(portal))?.reason,
  };
}
