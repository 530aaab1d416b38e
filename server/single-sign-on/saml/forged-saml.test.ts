import { Socket } from 'node:net';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '#server/limits.ts';
import { encrypted, type Forger, field } from '#test/forgeries/forged-saml.ts';
import { forgeries } from '#test/forgeries/saml-forgeries.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { eachRow, oneOfEach, runsAll } from '#test/support/runs-all.ts';
import { type SamlForTest, samlForTest } from '#test/support/saml-for-test.ts';
import { addPortalKey, portalKeys, promotePortalKey } from '../portal-keys.ts';
import type { SamlConnection } from '../sso-connection.ts';
import { readSamlMetadata } from './provider-metadata.ts';

const portal = portalOfFile();
let saml: SamlForTest;
beforeAll(async () => {
  saml = await samlForTest(portal);
});

type Parts = NonNullable<Parameters<Forger['assertion']>[0]>;
/** What is read of an assertion with these parts, honestly signed. */
const readOf = (parts: (f: Forger) => Parts = () => ({}), to?: SamlConnection) => {
  const f = saml.forger();
  return saml.read(field(f.response(f.sign(f.assertion(parts(f))))), to);
};
const bob = 'bob@corp-b.example';
const admin = 'admin@corp-b.example';
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const identity = {
  subject: 'bob-1',
  sent: expect.arrayContaining(['NameID (SAML:2.0:nameid-format:persistent)', 'email']),
  emails: [bob],
  emailVerified: false,
  username: null,
  ...{ language: null, name: null, groups: null },
  authenticationContexts: ['urn:oasis:names:tc:SAML:2.0:ac:classes:Password'],
  // As the forger claims: a second ago.
  authenticatedAt: new Date('2026-03-04T09:59:59Z').getTime(),
  sessionEndsAt: null,
  idToken: null,
  session: '_s1',
  samlName: { name: 'bob-1', format: persistent, nameQualifier: null, spNameQualifier: null, sessionIndex: '_s1' },
};

/** Another group, in the words of Active Directory. */
const typed = `</saml:AttributeValue><saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">00000000-0000-0000-0000-000000000000`;

describe('true answers are read', () => {
  it.each([
    ['with a signed assertion', (f: Forger) => f.response(f.sign(f.assertion()))],
    ['with both signed', (f: Forger) => f.sign(f.response(f.sign(f.assertion())), '_r1')],
    ['without the optional issuer of the response', (f: Forger) => f.response(f.sign(f.assertion()), { issuer: '' })],
    [
      'printed with white space',
      (f: Forger) => f.response(f.sign(f.assertion().replace(/>([^<]+)</g, '>\n  $1\t\n<'))),
    ],
    ['after a byte order mark', (f: Forger) => `\uFEFF${f.response(f.sign(f.assertion()))}`],
    ['with a declaration', (f: Forger) => `<?xml version="1.0"?>\n${f.response(f.sign(f.assertion()))}\n`],
  ])('%s, also in lines', async (_name, make) => {
    const answer = field(make(saml.forger()));
    for (const text of [answer, answer.replace(/.{76}/g, '$&\r\n')])
      expect(await saml.read(text)).toEqual({ kind: 'ok', identity });
  });

  it('encrypted for any published key of the portal, by AES-CBC in a signed response; SA-35 if that is required', async () => {
    const f = saml.forger();
    const wantsEncryption = saml.connection({ wantsEncryption: true });
    const cbc = { content: 'http://www.w3.org/2001/04/xmlenc#aes128-cbc' };
    const inside = await encrypted(f.sign(f.assertion()), saml.keys.portalCertificate, cbc);
    expect(await saml.read(field(f.sign(f.response(inside), '_r1')))).toMatchObject({ identity });
    expect(await readOf(undefined, wantsEncryption)).toMatchObject({ words: 'its assertion is not encrypted' });
    await addPortalKey(portal.deps, portal.sql, 'next');
    for (const isPromoted of [false, true]) {
      if (isPromoted) await promotePortalKey(portal.sql);
      for (const { certificate } of await portalKeys(portal.deps)) {
        const answer = field(f.response(await encrypted(f.sign(f.assertion()), certificate)));
        expect(await saml.read(answer, wantsEncryption)).toMatchObject({ identity });
      }
    }
  });

  it.each<[string, (f: Forger) => Parts]>([
    ['with a thousand groups', (f) => ({ attributes: f.attributes({ email: bob, groups: typed.repeat(1000) }) })],
    ['that claim to be valid for days', (f) => ({ conditions: f.conditions(undefined, { NotOnOrAfter: f.at(9e8) }) })],
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
      'that write UTC otherwise',
      (f) => ({ issuedAt: f.at(0).replace('Z', '+00:00'), authn: f.authn({ AuthnInstant: f.at(0).replace('Z', '') }) }),
    ],
    [
      'with a second confirmation for another recipient',
      (f) => ({ confirmation: f.confirmation({ Recipient: 'https://other.example/acs' }) + f.confirmation() }),
    ],
    [
      'SA-40 with a persistent name of this provider, for us',
      (f) => ({
        nameId: f
          .nameId('bob-1')
          .replace(' F', ` NameQualifier="${f.scene.entityId}" SPNameQualifier="${f.scene.audience}" F`),
      }),
    ],
  ])('%s', async (_name, parts) => {
    expect(await readOf(parts)).toMatchObject({ kind: 'ok', identity: { subject: 'bob-1' } });
  });
});

const both = (one: string, two: string) => `${one}</saml:AttributeValue><saml:AttributeValue>${two}`;
const several = { emails: [bob, admin] };
const adfs = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress';

it.each<[string, Record<string, string>, object, SamlConnection['attributes']?]>([
  ['an address by its OID', { 'urn:oid:0.9.2342.19200300.100.1.3': bob }, { emails: [bob] }],
  ['an address as ADFS sends it', { [adfs]: bob }, { emails: [bob] }],
  ['an address twice', { email: both(bob, 'Bob@corp-b.example') }, { emails: [bob] }],
  ['SA-45 two different addresses: none', { email: both(bob, admin) }, several],
  ['SA-45 two under different names: none', { email: bob, mail: admin }, several],
  ['an address is never verified', { email: bob, email_verified: 'true' }, { emailVerified: false }],
  ['the attribute that the operator names', { email: admin, address: bob }, { emails: [bob] }, { email: 'address' }],
  ['nothing in its place', { email: admin }, { emails: [] }, { email: 'address' }],
  ['no username or language by itself', { uid: 'bob', locale: 'de' }, { username: null, language: null }],
  [
    'those that the operator names',
    { uid: 'bob', locale: 'de' },
    { username: 'bob', language: 'de' },
    { username: 'uid', language: 'locale' },
  ],
])('attributes: %s', async (_what, said, expected, attributes) => {
  const read = await readOf((f) => ({ attributes: f.attributes(said) }), saml.connection({}, attributes));
  expect(read).toMatchObject({ identity: expected });
});

it('the NameID is the address if that is its format, and every way of signing in is kept', async () => {
  const format = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
  const authn = (f: Forger) => f.authn() + f.authn({}, 'TimeSyncToken');
  const read = await readOf((f) => ({ nameId: f.nameId(bob, format), attributes: '', authn: authn(f) }));
  const authenticationContexts = [expect.stringContaining('Password'), expect.stringContaining('TimeSyncToken')];
  expect(read).toMatchObject({ identity: { subject: bob, emails: [bob], authenticationContexts } });
});

it.each([
  ['urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified', 'NameID (an address, SAML:1.1:nameid-format:unspecified)'],
  [
    'urn:oasis:names:tc:SAML:2.0:nameid-format:emailAddress',
    'NameID (an address, SAML:2.0:nameid-format:emailAddress)',
  ],
  ['', 'NameID (an address, without a format)'],
])(
  'a NameID of the format %j is no address until the operator says so, who reads that it is one',
  async (format, words) => {
    const nameId = (f: Forger) => f.nameId(bob, format).replace(' Format=""', '');
    const to = (map: object) => readOf((f) => ({ nameId: nameId(f), attributes: '' }), saml.connection({}, map));
    expect(await to({})).toMatchObject({ identity: { emails: [], sent: [words] } });
    expect(await to({ email: 'NameID' })).toMatchObject({ identity: { emails: [bob] } });
  },
);

describe('forged answers are refused, and the operator reads why', () => {
  it.each(oneOfEach(forgeries, ([name]) => name.slice(0, 5)))('%s', async (_name, words, make) => {
    const { portalCertificate, other: otherKey, ended: endedKey } = saml.keys;
    const answer = await saml.read(await make(saml.forger(), { portalCertificate, otherKey, endedKey }));
    expect(answer).toMatchObject({ kind: 'refused', words: expect.stringMatching(words) });
  });

  it('SA-16 nothing is accepted once the certificate has expired', async () => {
    const to = saml.connection({ certificates: [saml.keys.ended.certificate] });
    const words = 'no certificate of the provider is valid now';
    expect(await readOf(undefined, to)).toMatchObject({ reason: 'connection-broken', words });
  });
});

const size = 180_000;
const filled = (piece: string) => piece.repeat(size / piece.length);
const laughs = Array.from({ length: 10 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');

/** Each with the reason for refusal. */
const hostile: [name: string, words: RegExp, xml: string][] = [
  ['an external entity', /document type/, '<!DOCTYPE r [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]><r>&x;</r>'],
  ['a parameter entity', /document type/, '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><r/>'],
  ['a billion laughs', /document type/, `<!DOCTYPE r [<!ENTITY l0 "ha">${laughs}]><r>&l10;</r>`],
  ['a style sheet', /processing instruction/, '<?xml-stylesheet href="http://127.0.0.1:9/x"?><r/>'],
  ['a declaration that does not end', /processing instruction/, `<?xml version="1.0" ${filled(' ')}`],
  ['elements in each other', /too many/, filled('<a>')],
  ['attributes', /too many/, `<r ${Array.from({ length: 20_000 }, (_, at) => `a${at}=""`).join(' ')}/>`],
  ['quotes that do not end', /too many/, `<r ${filled('a="')}`],
  ['colons', /not a Response|well-formed/, `<${filled('a:')}/>`],
  ['elements up to the limit', /not a Response/, `<r>${'<a b="" c=""/>'.repeat(2160)}</r>`],
];

it('SA-32 hostile XML is refused at once, in an answer or as metadata, and nobody is called', () =>
  eachRow(hostile, async ([_name, words, xml]) => {
    const connect = vi.spyOn(Socket.prototype, 'connect');
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const begin = process.threadCpuUsage();
      expect(await saml.read(field(xml))).toMatchObject({ words: expect.stringMatching(words) });
      times.push(process.threadCpuUsage(begin).user / 1000);
    }
    expect(readSamlMetadata(xml, portal.deps.now())).toMatchObject({ kind: 'refused' });
    expect(connect).not.toHaveBeenCalled();
    connect.mockRestore();
    // Of the processor: the machine may be busy. The first round compiles what it runs.
    expect(Math.min(...times)).toBeLessThan(50);
  }));

/** Where to change it, as parts of the whole: what is between two places is removed, copied with another name, or a piece put in. */
const places = fc.tuple(
  ...Array.from({ length: 3 }, () => fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
);
const piece = fc.constantFrom(
  '<!---->',
  '<x/>',
  '&#65;',
  '"',
  'ID="_a1"',
  '<saml:NameID>admin-1</saml:NameID>',
  'copy',
  'out',
);
const change = fc.record({ places, piece });

function mangled(xml: string, { places, piece }: { places: number[]; piece: string }): string {
  // At tag boundaries, so that the result is often well-formed.
  const borders = [...xml.matchAll(/(?=<)|(?<=>)/g)].map(({ index }) => index);
  const [from = 0, to = 0, place = 0] = places
    .map((part) => borders[Math.floor(part * borders.length)] ?? 0)
    .sort((one, other) => one - other);
  if (piece === 'out') return xml.slice(0, from) + xml.slice(to);
  const copied = xml.slice(from, to).replace('bob-1', 'admin-1');
  return xml.slice(0, place) + (piece === 'copy' ? copied : piece) + xml.slice(place);
}

it.runIf(runsAll)(
  'any change to a valid answer makes it refused or leaves its meaning, and throws nothing',
  async () => {
    const f = saml.forger();
    const sealed = await encrypted(f.sign(f.assertion()), saml.keys.portalCertificate);
    const answers = [
      f.response(f.sign(f.assertion())),
      f.sign(f.response(f.sign(f.assertion())), '_r1'),
      f.response(sealed),
    ];
    for (const xml of answers) expect(await saml.read(field(xml))).toMatchObject({ kind: 'ok' });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...answers),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (xml, changes) => {
          const answer = await saml.read(field(changes.reduce(mangled, xml)));
          if (answer.kind === 'ok')
            expect(answer).toMatchObject({ identity: { subject: 'bob-1', emails: ['bob@corp-b.example'] } });
          else refused += 1;
        },
      ),
    );
    expect(refused).toBeGreaterThan(20);
  },
  60_000,
);
