import { ProviderFailure } from '../provider-failure.ts';
import type { Conversation } from '../provider-fetch.ts';
// The library below requires it at load time.
import 'reflect-metadata';
import { X509CertificateGenerator } from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SamlConnection } from '#server/storage/sso-connection.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';
import { makeCertificate } from '../make-certificate.ts';
import { certificateFacts } from './certificates.ts';
import { checkSaml } from './check-saml.ts';

const now = new Date('2026-03-04T10:00:00Z');
const day = 24 * 3_600_000;
const signOnUrl = 'https://idp.example/sso';
const metadataUrl = 'https://idp.example/metadata';

/** A certificate that expires in this many days. */
async function certificate(days: number): Promise<string> {
  return (await makeCertificate('idp', new Date(now.getTime() + (days - 3 * 365) * day))).certificate;
}

let good: string;
let other: string;
beforeAll(async () => {
  [good, other] = await Promise.all([certificate(365), certificate(366)]);
});

function metadata({ signOn = signOnUrl, pem = good, id = 'urn:idp' } = {}): string {
  const key = pem.replace(/-----[A-Z ]+-----/g, '');
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${id}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${key}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${signOn}"/></IDPSSODescriptor></EntityDescriptor>`;
}

async function check(settings: Partial<SamlSettings>, { page = 200, text = '' } = {}) {
  const all = {
    entityId: 'urn:idp',
    signOnUrl,
    certificates: [good],
    metadataUrl: null,
    mayBegin: false,
    wantsEncryption: false,
    ...settings,
  };
  const away = () => Promise.reject(new ProviderFailure('nobody answers'));
  const conversation = {
    look: (url: string) =>
      url === all.signOnUrl && page > 0 ? Promise.resolve(new Response('', { status: page })) : away(),
    read: (url: string) => (url === metadataUrl && text ? Promise.resolve(new Response(text)) : away()),
  } as Conversation;
  return await checkSaml({ protocol: 'saml', settings: all } as SamlConnection, { now, conversation });
}

const fine = [
  { step: 'certificate 1', ok: true, words: 'it is valid until 2027-03-04' },
  { step: 'sign-on address', ok: true, words: 'it answers with status 200' },
  {
    step: 'single logout',
    ok: true,
    words: 'the provider offers none that we support: people who sign out here stay signed in there',
  },
];

describe('a connection by SAML is looked at', () => {
  it('and all is well', async () => {
    expect(await check({})).toEqual(fine);
    expect(await check({ metadataUrl }, { text: metadata() })).toEqual([
      ...fine,
      { step: 'metadata', ok: true, words: 'they match the settings' },
    ]);
  });

  it('and shows where single logout goes, and what the metadata say about it', async () => {
    const url = 'https://idp.example/slo';
    const steps = await check(
      { metadataUrl, logout: { url, responseUrl: `${url}/answers`, binding: 'post' } },
      { text: metadata() },
    );
    expect(steps.slice(2)).toEqual([
      { step: 'single logout', ok: true, words: `"${url}" by post` },
      {
        step: 'metadata',
        ok: false,
        words: `single logout: "${url}", answers to "${url}/answers", by post here, single logout: nothing there`,
      },
    ]);
  });

  it('and shows when each certificate expires', async () => {
    const certificates = [await certificate(59), await certificate(61), await certificate(-1), 'nothing'];
    expect((await check({ certificates })).slice(0, 4)).toEqual([
      { step: 'certificate 1', ok: false, words: 'it is valid until 2026-05-02' },
      { step: 'certificate 2', ok: true, words: 'it is valid until 2026-05-04' },
      { step: 'certificate 3', ok: false, words: 'it ended on 2026-03-03' },
      { step: 'certificate 4', ok: false, words: 'it cannot be read' },
    ]);
  });

  it('and nobody gets in if no certificate is valid', async () => {
    const checks = await check({ certificates: [await certificate(-1), await certificate(3 * 365 + 1)] });
    expect(checks.slice(1, 3)).toEqual([
      { step: 'certificate 2', ok: false, words: 'it begins on 2026-03-05' },
      { step: 'certificates', ok: false, words: 'none is valid now: nobody can sign in' },
    ]);
  });

  it('and a key is too weak', async () => {
    const notAfter = new Date(now.getTime() + 365 * day);
    const signingAlgorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 1024 };
    const algorithm = { ...signingAlgorithm, publicExponent: new Uint8Array([1, 0, 1]) };
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const weak = await X509CertificateGenerator.createSelfSigned({ notBefore: now, notAfter, signingAlgorithm, keys });
    expect((await check({ certificates: [weak.toString('pem')] }))[0]).toEqual({
      step: 'certificate 1',
      ok: false,
      words: 'its key is weak: RSA of 1024 bits',
    });
  });

  it('and the sign-on address is missing or wrong', async () => {
    const signOn = async (settings: Partial<SamlSettings>, page: number) => (await check(settings, { page }))[1];
    expect(await signOn({}, 0)).toMatchObject({ ok: false, words: expect.stringMatching(/nobody answers/) });
    expect(await signOn({}, 503)).toMatchObject({ ok: false, words: 'it answers with status 503' });
    expect(await signOn({}, 400)).toMatchObject({ ok: true });
    expect(await signOn({ signOnUrl: 'http://idp.example/' }, 200)).toMatchObject({
      ok: false,
      words: expect.stringMatching(/not https/),
    });
  });

  it('and the metadata say something else, field by field', async () => {
    const text = metadata({ signOn: 'https://idp.example/new', pem: other });
    const [ours, theirs] = [good, other].map((pem) => certificateFacts(pem)?.fingerprint);
    expect((await check({ metadataUrl }, { text })).slice(3)).toEqual([
      {
        step: 'metadata',
        ok: false,
        words: 'signOnUrl: "https://idp.example/sso" here, signOnUrl: "https://idp.example/new" there',
      },
      { step: 'metadata', ok: false, words: `certificates: ${theirs} is there and not here` },
      { step: 'metadata', ok: false, words: `certificates: ${ours} is here and not there` },
    ]);
  });

  it('and the metadata are another provider’s, unreadable, or unavailable', async () => {
    const last = async (text: string) => (await check({ metadataUrl }, { text })).at(-1);
    expect(await last(metadata({ id: 'urn:else' }))).toMatchObject({
      ok: false,
      words: 'the metadata are not of "urn:idp" but of "urn:else"',
    });
    expect(await last('<html>')).toMatchObject({ ok: false, words: expect.stringMatching(/cannot be read/) });
    expect(await last('')).toMatchObject({ ok: false, words: expect.stringMatching(/nobody answers/) });
  });
});
