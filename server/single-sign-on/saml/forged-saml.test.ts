import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { encrypted, encryptedName, type Forger, field } from '#test/forgeries/forged-saml.ts';
import { byCbc } from '#test/forgeries/saml-forgeries/encrypted-answers.ts';
import { forgeries } from '#test/forgeries/saml-forgeries.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { oneOfEach } from '#test/support/runs-all.ts';
import { type SamlForTest, samlForTest } from '#test/support/saml-for-test.ts';
import { addPortalKey, portalKeys, promotePortalKey } from '../portal-keys.ts';

let saml: SamlForTest;

const portal = portalOfFile();
beforeAll(async () => {
  saml = await samlForTest(portal);
});

const newForger: SamlForTest['forger'] = (more) => saml.forger(more);
const connection: SamlForTest['connection'] = (...more) => saml.connection(...more);
const read: SamlForTest['read'] = (...more) => saml.read(...more);
/** What is read of an assertion with these parts, honestly signed. */
const readOf = (parts: (f: Forger) => Parameters<Forger['assertion']>[0], to = connection()) => {
  const f = newForger();
  return read(field(f.response(f.sign(f.assertion(parts(f))))), to);
};

const bob = {
  subject: 'bob-1',
  email: 'bob@corp-b.example',
  emailVerified: false,
  username: null,
  language: null,
  authenticationContexts: ['urn:oasis:names:tc:SAML:2.0:ac:classes:Password'],
  // As the forger claims: a second ago.
  authenticatedAt: new Date('2026-03-04T09:59:59Z').getTime(),
  sessionEndsAt: null,
  idToken: null,
  session: '_s1',
  samlName: {
    name: 'bob-1',
    format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    nameQualifier: null,
    spNameQualifier: null,
    sessionIndex: '_s1',
  },
};

describe('true answers are read', () => {
  it.each([
    ['with a signed assertion', (f: Forger) => f.response(f.sign(f.assertion()))],
    ['with both signed', (f: Forger) => f.sign(f.response(f.sign(f.assertion())), '_r1')],
    ['without the optional issuer of the response', (f: Forger) => f.response(f.sign(f.assertion()), { issuer: '' })],
    ['with a declaration', (f: Forger) => `<?xml version="1.0"?>\n${f.response(f.sign(f.assertion()))}\n`],
  ])('%s, also in lines', async (_name, make) => {
    const answer = field(make(newForger()));
    expect(await read(answer)).toEqual({ kind: 'ok', identity: bob });
    expect(await read(answer.replace(/.{76}/g, '$&\r\n'))).toEqual({ kind: 'ok', identity: bob });
  });

  it('encrypted by AES-GCM, also where encryption is required', async () => {
    const f = newForger();
    const inside = await encrypted(f.sign(f.assertion()), saml.keys.portalCertificate);
    expect(await read(field(f.response(inside)))).toMatchObject({ identity: bob });
    expect(await read(field(f.response(inside)), connection({ wantsEncryption: true }))).toMatchObject({ kind: 'ok' });
  });

  it('encrypted for any published key of the portal', async () => {
    await addPortalKey(portal.deps, portal.sql, 'next');
    const read = async () => {
      const f = newForger();
      const keys = await portalKeys(portal.deps);
      const answers = keys.map(async ({ stage, certificate }) => {
        const response = f.response(await encrypted(f.sign(f.assertion()), certificate));
        return [stage, (await saml.read(field(response))).kind];
      });
      return Object.fromEntries(await Promise.all(answers));
    };
    expect(await read()).toEqual({ current: 'ok', next: 'ok' });
    await promotePortalKey(portal.sql);
    expect(await read()).toEqual({ current: 'ok', last: 'ok' });
  });

  it('encrypted by AES-CBC, in a signed response', async () => {
    const f = newForger();
    const response = f.sign(f.response(await byCbc(f, saml.keys.portalCertificate)), '_r1');
    expect(await read(field(response))).toMatchObject({ identity: bob });
  });

  it('with an encrypted NameID, by AES-GCM and by AES-CBC', async () => {
    for (const content of ['2009/xmlenc11#aes256-gcm', '2001/04/xmlenc#aes128-cbc']) {
      const f = newForger();
      const more = { content: `http://www.w3.org/${content}` };
      const nameId = await encryptedName(f.nameId('bob-1'), saml.keys.portalCertificate, more);
      expect(await read(field(f.response(f.sign(f.assertion({ nameId })))))).toMatchObject({ identity: bob });
      const sealed = await encrypted(f.sign(f.assertion({ nameId })), saml.keys.portalCertificate);
      expect(await read(field(f.response(sealed)))).toMatchObject({ identity: bob });
    }
  });

  it.each<[string, (f: Forger) => Parameters<Forger['assertion']>[0]]>([
    [
      'that claim to be valid for days, while they are recent',
      (f) => {
        const far = { NotOnOrAfter: f.at(10 * 24 * 3_600_000) };
        return { confirmation: f.confirmation(far), conditions: f.conditions(undefined, far) };
      },
    ],
    [
      'as long as the clocks differ by no more than is allowed',
      (f) => {
        const [ahead, behind] = [f.at(limits.providerClock - 1), f.at(1 - limits.providerClock)];
        return {
          issuedAt: ahead,
          confirmation: f.confirmation({ NotOnOrAfter: behind }),
          conditions: f.conditions(undefined, { NotBefore: ahead, NotOnOrAfter: behind }),
          authn: f.authn({ AuthnInstant: ahead, SessionNotOnOrAfter: behind }),
        };
      },
    ],
    [
      'with a second confirmation for another recipient',
      (f) => ({ confirmation: f.confirmation({ Recipient: 'https://other.example/acs' }) + f.confirmation() }),
    ],
  ])('%s', async (_name, parts) => {
    expect(await readOf(parts)).toMatchObject({ kind: 'ok', identity: { subject: 'bob-1' } });
  });
});

describe('forged answers are refused, and the operator reads why', () => {
  it.each(oneOfEach(forgeries, ({ name }) => name.slice(0, 5)))('$name', async ({ words, make }) => {
    const { portalCertificate, other: otherKey, ended: endedKey } = saml.keys;
    const answer = await read(await make(newForger(), { portalCertificate, otherKey, endedKey }));
    expect(answer).toMatchObject({ kind: 'refused', words: expect.stringMatching(words) });
  });

  it('SA-16 nothing is accepted once the certificate has expired', async () => {
    const words = 'no certificate of the provider is valid now';
    const to = connection({ certificates: [saml.keys.ended.certificate] });
    expect(await readOf(() => ({}), to)).toMatchObject({ reason: 'connection-broken', words });
  });

  it('SA-22 the provider’s words reach the operator', async () => {
    const inner = '<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:AuthnFailed"/>';
    const status = `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Responder">${inner}</samlp:StatusCode><samlp:StatusMessage>Bob pressed cancel</samlp:StatusMessage></samlp:Status>`;
    expect(await read(field(newForger().response('', { status })))).toEqual({
      kind: 'refused',
      reason: 'provider-refused',
      words:
        'the provider says "urn:oasis:names:tc:SAML:2.0:status:Responder", "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed": "Bob pressed cancel"',
    });
  });

  it('SA-26 an answer to no request, or half of one, even where the provider may begin', async () => {
    const unasked = newForger({ requestId: null });
    const asked = newForger();
    for (const [response, assertion] of [
      [unasked, unasked],
      [unasked, asked],
      [asked, unasked],
    ] as const) {
      const answer = field(response.response(assertion.sign(assertion.assertion())));
      expect(await read(answer, connection({ mayBegin: true }))).toMatchObject({
        reason: 'answer-invalid',
        words: expect.stringMatching(/answers nothing, not the request/),
      });
    }
  });

  it('SA-35 an unencrypted one, if encryption is required', async () => {
    const words = 'its assertion is not encrypted';
    expect(await readOf(() => ({}), connection({ wantsEncryption: true }))).toMatchObject({ kind: 'refused', words });
  });
});
