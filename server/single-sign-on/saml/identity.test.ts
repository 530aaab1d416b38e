import { beforeAll, describe, expect, it } from 'vitest';
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

describe('the email address', () => {
  it.each([
    'email',
    'mail',
    'urn:oid:0.9.2342.19200300.100.1.3',
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  ])('is in the attribute %s', async (name) => {
    const { email } = await identityOf((f) => ({ attributes: f.attributes({ [name]: 'bob@corp-b.example' }) }));
    expect(email).toBe('bob@corp-b.example');
  });

  it('is the NameID if that is an address', async () => {
    const parts = (f: Forger) => ({ nameId: f.nameId('bob@corp-b.example', emailFormat), attributes: '' });
    expect(await identityOf(parts)).toMatchObject({ subject: 'bob@corp-b.example', email: 'bob@corp-b.example' });
  });

  it('SA-45 is ignored if there are two different ones', async () => {
    const parts =
      (...values: string[]) =>
      (f: Forger) => ({
        attributes: f.attributes({ email: values.join('</saml:AttributeValue><saml:AttributeValue>') }),
      });
    const several = { email: null, tellsSeveralEmails: true };
    expect(await identityOf(parts('bob@corp-b.example', 'admin@corp-b.example'))).toMatchObject(several);
    expect((await identityOf(parts('bob@corp-b.example', 'Bob@corp-b.example'))).email).toBe('bob@corp-b.example');
    const names = (f: Forger) => ({
      attributes: f.attributes({ email: 'bob@corp-b.example', mail: 'admin@corp-b.example' }),
    });
    expect(await identityOf(names)).toMatchObject(several);
  });

  it('is ignored if it is missing or not text', async () => {
    expect((await identityOf(() => ({ attributes: '' }))).email).toBeNull();
    expect((await identityOf((f) => ({ attributes: f.attributes({ email: '<x/>' }) }))).email).toBeNull();
  });

  it('is only in the attribute that the operator names', async () => {
    const parts = (f: Forger) => ({
      attributes: f.attributes({ email: 'other@corp-b.example', address: 'bob@corp-b.example' }),
    });
    expect((await identityOf(parts, { email: 'address' })).email).toBe('bob@corp-b.example');
    expect((await identityOf(parts, { email: 'missing' })).email).toBeNull();
  });

  it('is never reported as verified', async () => {
    const parts = (f: Forger) => ({
      attributes: f.attributes({ email: 'bob@corp-b.example', email_verified: 'true' }),
    });
    expect((await identityOf(parts)).emailVerified).toBe(false);
  });
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

it('SA-40 a persistent name of this provider, for us, is the subject', async () => {
  const f = saml.forger();
  const qualified = f
    .nameId('p-1')
    .replace('<saml:NameID', `<saml:NameID NameQualifier="${f.scene.entityId}" SPNameQualifier="${f.scene.audience}"`);
  expect((await identityOf(() => ({ nameId: qualified }))).subject).toBe('p-1');
});
