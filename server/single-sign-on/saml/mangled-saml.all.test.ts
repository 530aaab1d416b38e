import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { encrypted, field } from '#test/forgeries/forged-saml.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { type SamlForTest, samlForTest } from '#test/support/saml-for-test.ts';

let saml: SamlForTest;
const portal = portalOfFile();
beforeAll(async () => {
  saml = await samlForTest(portal);
});

/** Where to change it, in ten thousandths of the whole: the part between two places is removed, copied or moved. */
const places = fc.tuple(...Array.from({ length: 3 }, () => fc.noBias(fc.integer({ min: 0, max: 9999 }))));
const change = fc.record({ kind: fc.constantFrom('out', 'copy', 'rename', 'insert'), places, more: fc.nat(8) });
const pieces = [
  ...['<!---->', '<x/>', ' ', '&#65;', '<', '"', 'ID="_a1"', 'xmlns="urn:x" '],
  '<saml:NameID>admin-1</saml:NameID>',
];

function mangled(xml: string, { kind, places, more }: { kind: string; places: number[]; more: number }): string {
  // At tag boundaries, so that the result is often well-formed.
  const borders = [...xml.matchAll(/(?=<)|(?<=>)/g)].map(({ index }) => index);
  const [from = 0, to = 0, place = 0] = places
    .map((part) => borders[Math.floor((part / 10_000) * borders.length)] ?? 0)
    .sort((one, other) => one - other);
  const between = xml.slice(from, to);
  switch (kind) {
    case 'out':
      return xml.slice(0, from) + xml.slice(to);
    case 'copy':
      return xml.slice(0, place) + between.replace('bob-1', 'admin-1') + xml.slice(place);
    case 'rename':
      return xml.slice(0, from) + between.replaceAll('_a1', '_a2').replace('bob-1', 'admin-1') + xml.slice(to);
    default:
      return xml.slice(0, place) + pieces[more] + xml.slice(place);
  }
}

it('any change to a valid answer makes it refused or leaves its meaning, and throws nothing', async () => {
  const f = saml.forger();
  const sealed = await encrypted(f.sign(f.assertion()), saml.keys.portalCertificate);
  const answers = [
    f.response(f.sign(f.assertion())),
    f.sign(f.response(f.sign(f.assertion())), '_r1'),
    f.response(sealed),
  ];
  for (const xml of answers) expect(await saml.read(field(xml))).toMatchObject({ kind: 'ok' });
  const outcomes = { same: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...answers),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      async (xml, changes) => {
        const answer = await saml.read(field(changes.reduce(mangled, xml)));
        if (answer.kind === 'ok')
          expect(answer).toMatchObject({ identity: { subject: 'bob-1', email: 'bob@corp-b.example' } });
        outcomes[answer.kind === 'ok' ? 'same' : 'refused'] += 1;
      },
    ),
  );
  expect(outcomes.refused).toBeGreaterThan(20);
}, 60_000);
