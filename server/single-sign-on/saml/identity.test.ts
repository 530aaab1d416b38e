import { beforeAll, expect, it } from 'vitest';
import { type AssertionParts, type Forger, field } from '#test/forgeries/forged-saml.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { type SamlForTest, samlForTest } from '#test/support/saml-for-test.ts';
import type { Identity } from '../provider-answer.ts';
import type { SamlConnection } from '../sso-connection.ts';

let saml: SamlForTest;
const portal = portalOfFile();
beforeAll(async () => {
  saml = await samlForTest(portal);
});

/** The identity read from an assertion with these parts. */
async function identityOf(
  parts: (f: Forger) => AssertionParts,
  attributes: SamlConnection['attributes'] = {},
): Promise<Identity> {
  const f = saml.forger();
  const answer = await saml.read(field(f.response(f.sign(f.assertion(parts(f))))), saml.connection({}, attributes));
  if (answer.kind === 'refused') throw new Error(answer.words);
  return answer.identity;
}

const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

const bob = 'bob@corp-b.example';
const admin = 'admin@corp-b.example';
const several = { email: null, tellsSeveralEmails: true };
const both = (one: string, two: string) => `${one}</saml:AttributeValue><saml:AttributeValue>${two}`;

it.each<[string, Record<string, string>, object]>([
  ...['mail', 'urn:oid:0.9.2342.19200300.100.1.3'].map((name): [string, Record<string, string>, object] => [
    `in the attribute ${name}`,
    { [name]: bob },
    { email: bob },
  ]),
  ['in that of ADFS', { 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress': bob }, { email: bob }],
  ['twice the same', { email: both(bob, 'Bob@corp-b.example') }, { email: bob }],
  ['SA-45 two different ones: none', { email: both(bob, admin) }, several],
  ['SA-45 two under different names: none', { email: bob, mail: admin }, several],
  ['missing', {}, { email: null }],
  ['not text', { email: '<x/>' }, { email: null }],
  ['never verified', { email: bob, email_verified: 'true' }, { emailVerified: false }],
])('the email address: %s', async (_what, attributes, identity) => {
  expect(await identityOf((f) => ({ attributes: f.attributes(attributes) }))).toMatchObject(identity);
});

it('the email address is the NameID if that is one', async () => {
  const parts = (f: Forger) => ({ nameId: f.nameId(bob, emailFormat), attributes: '' });
  expect(await identityOf(parts)).toMatchObject({ subject: bob, email: bob });
});

it('the email address is only in the attribute that the operator names', async () => {
  const parts = (f: Forger) => ({ attributes: f.attributes({ email: admin, address: bob }) });
  expect((await identityOf(parts, { email: 'address' })).email).toBe(bob);
  expect((await identityOf(parts, { email: 'missing' })).email).toBeNull();
});

it('username and language are read if the operator names their attributes', async () => {
  const parts = (f: Forger) => ({ attributes: f.attributes({ uid: 'bob', locale: 'de-AT', username: 'no' }) });
  expect(await identityOf(parts)).toMatchObject({ username: null, language: null });
  const named = await identityOf(parts, { username: 'uid', language: 'locale' });
  expect(named).toMatchObject({ username: 'bob', language: 'de-AT' });
});

it('every reported way of signing in is kept', async () => {
  const { authenticationContexts } = await identityOf((f) => ({ authn: f.authn() + f.authn({}, 'TimeSyncToken') }));
  const prefix = 'urn:oasis:names:tc:SAML:2.0:ac:classes:';
  expect(authenticationContexts).toEqual([`${prefix}Password`, `${prefix}TimeSyncToken`]);
});

it('SA-40 a persistent name of this provider, for us, is the subject, with its capital letters', async () => {
  const f = saml.forger();
  const qualified = f
    .nameId('P-1')
    .replace('<saml:NameID', `<saml:NameID NameQualifier="${f.scene.entityId}" SPNameQualifier="${f.scene.audience}"`);
  expect((await identityOf(() => ({ nameId: qualified }))).subject).toBe('P-1');
});
