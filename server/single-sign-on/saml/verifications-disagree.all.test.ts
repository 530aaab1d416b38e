import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { encrypted, field, forger } from '#testing/forged-saml.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  acs,
  addSamlConnection,
  ownEntityId,
  postSamlAnswer,
  type SamlProviderForTest,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { browserForTest, departFor, lastFailure } from '#testing/sso-for-test.ts';
import { portalKeys } from '../portal-keys.ts';
import { libraryVerifiedXml } from './library-verified-xml.ts';

vi.mock(import('./library-verified-xml.ts'), async (original) => {
  const actual = await original();
  return { libraryVerifiedXml: vi.fn(actual.libraryVerifiedXml) };
});
const library = vi.mocked(libraryVerifiedXml);

let acme: SamlProviderForTest;
let stranger: SamlProviderForTest;
const portal = portalOfFile();
beforeAll(async () => {
  [acme, stranger] = (await Promise.all(
    ['idp.acme.test', 'stranger.test'].map((name) => samlProvider(name, portal.deps.now())),
  )) as [SamlProviderForTest, SamlProviderForTest];
});
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addSamlConnection(portal, acme);
  library.mockClear();
});

type Kind = 'plain' | 'both' | 'encrypted' | 'encrypted in a signed response';

/** Posts an answer of alice's to an open request; returns where the browser is sent. */
async function arrive(kind: Kind, { key } = acme): Promise<string> {
  const browser = browserForTest(portal);
  const { id, state } = samlRequestAt(await departFor(browser));
  const scene = { now: portal.deps.now(), entityId: acme.entityId, acs, audience: ownEntityId, requestId: id };
  const f = forger({ key, ...scene });
  const parts = { nameId: f.nameId('alice-1'), attributes: f.attributes({ email: 'alice@acme.test' }), id: `_a${id}` };
  const assertion = f.sign(f.assertion(parts), parts.id);
  const [{ certificate }] = await portalKeys(portal.deps);
  const response = f.response(kind.startsWith('encrypted') ? await encrypted(assertion, certificate) : assertion);
  const xml = kind === 'both' || kind.endsWith('response') ? f.sign(response, '_r1') : response;
  const answer = await postSamlAnswer(portal, browser, { SAMLResponse: field(xml), RelayState: state });
  return String(answer.headers.location);
}

const kinds: [Kind, signatures: number][] = [
  ['plain', 1],
  ['both', 2],
  ['encrypted', 1],
  ['encrypted in a signed response', 2],
];

it.each(kinds)('SA-43 the library has the last word: %s', async (kind, signatures) => {
  expect(await arrive(kind)).toContain('/saml/finish?');
  expect(library).toHaveBeenCalledTimes(signatures);
  for (let disagreeing = 0; disagreeing < signatures; disagreeing += 1)
    for (const opinion of [
      { kind: 'ok' as const, text: '<saml:Assertion>of somebody else</saml:Assertion>' },
      { kind: 'refused' as const, problem: 'invalid signature' },
    ]) {
      const { libraryVerifiedXml: actual } =
        await vi.importActual<typeof import('./library-verified-xml.ts')>('./library-verified-xml.ts');
      for (let before = 0; before < disagreeing; before += 1) library.mockImplementationOnce(actual);
      library.mockReturnValueOnce(opinion);
      const logged = portal.logs().length;
      expect(await arrive(kind)).not.toContain('/saml/finish?');
      const failure = await lastFailure(portal);
      expect(failure).toMatchObject({ reason: 'answer-invalid' });
      expect(failure?.steps[0]?.outcome).toContain('our steps and the library disagree');
      expect(portal.logs().slice(logged)).toContain('our steps and the library disagree on a signature');
    }
});

it.each(kinds)('SA-43 the library is never shown what a forger made: %s', async (kind) => {
  expect(await arrive(kind, stranger)).not.toContain('/saml/finish?');
  expect((await lastFailure(portal))?.steps[0]?.outcome).toContain('is invalid');
  expect(library).not.toHaveBeenCalled();
});
