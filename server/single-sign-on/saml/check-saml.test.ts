// The library below requires it at load time.
import 'reflect-metadata';
import { X509CertificateGenerator } from '@peculiar/x509';
import { beforeAll, expect, it } from 'vitest';
import type { Conversation } from '../../http/provider-fetch.ts';
import { ProviderFailure } from '../../http/provider-fetch.ts';
import { makeCertificate } from '../portal-keys.ts';
import type { SamlConnection, SamlSettings } from '../sso-connection.ts';
import { checkSaml } from './check-saml.ts';
import { certificateFacts } from './provider-metadata.ts';

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

/** Each step as `step: words`, with `!` in front if it is not well. */
async function check(settings: Partial<SamlSettings>, { page = 200, text = '' } = {}): Promise<string[]> {
  const defaults = { entityId: 'urn:idp', signOnUrl, certificates: [good], metadataUrl: null };
  const all = { ...defaults, mayBegin: false, wantsEncryption: false, ...settings };
  const away = () => Promise.reject(new ProviderFailure('nobody answers'));
  const conversation = {
    look: (url: string) =>
      url === all.signOnUrl && page > 0 ? Promise.resolve(new Response('', { status: page })) : away(),
    read: (url: string) => (url === metadataUrl && text ? Promise.resolve(new Response(text)) : away()),
  } as Conversation;
  const steps = await checkSaml({ protocol: 'saml', settings: all } as SamlConnection, { now, conversation });
  return steps.map(({ step, ok, words }) => `${ok ? '' : '!'}${step}: ${words}`);
}

it('a connection is well', async () => {
  expect(await check({ metadataUrl }, { text: metadata() })).toEqual([
    'certificate 1: it is valid until 2027-03-04',
    'sign-on address: it answers with status 200',
    'single logout: the provider offers none that we support: people who sign out here stay signed in there',
    'metadata: they match the settings',
  ]);
});

it('each certificate says when it ends, and whether any is valid', async () => {
  const certificates = [await certificate(59), await certificate(61), await certificate(-1), 'nothing'];
  expect((await check({ certificates })).slice(0, 4)).toEqual([
    '!certificate 1: it is valid until 2026-05-02',
    'certificate 2: it is valid until 2026-05-04',
    '!certificate 3: it ended on 2026-03-03',
    '!certificate 4: it cannot be read',
  ]);
  const none = [await certificate(-1), await certificate(3 * 365 + 1)];
  expect((await check({ certificates: none })).slice(1, 3)).toEqual([
    '!certificate 2: it begins on 2026-03-05',
    '!certificates: none is valid now: nobody can sign in',
  ]);
});

it('a key is too weak', async () => {
  const notAfter = new Date(now.getTime() + 365 * day);
  const signingAlgorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 1024 };
  const algorithm = { ...signingAlgorithm, publicExponent: new Uint8Array([1, 0, 1]) };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const weak = await X509CertificateGenerator.createSelfSigned({ notBefore: now, notAfter, signingAlgorithm, keys });
  const [first] = await check({ certificates: [weak.toString('pem')] });
  expect(first).toBe('!certificate 1: its key is weak: RSA of 1024 bits');
});

it.each([
  [{}, 0, /^!sign-on address: .*nobody answers/],
  [{}, 503, /^!sign-on address: it answers with status 503/],
  [{}, 400, /^sign-on address/],
  [{ signOnUrl: 'http://idp.example/' }, 200, /^!sign-on address: .*not https/],
])('the sign-on address %j answers %i', async (settings, page, words) => {
  expect((await check(settings, { page }))[1]).toMatch(words);
});

it('the metadata differ, are another provider’s, or cannot be read', async () => {
  const last = async (text: string, settings = {}) => (await check({ metadataUrl, ...settings }, { text })).slice(3);
  const [ours, theirs] = [good, other].map((pem) => certificateFacts(pem)?.fingerprint);
  expect(await last(metadata({ signOn: 'https://idp.example/new', pem: other }))).toEqual([
    '!metadata: signOnUrl: "https://idp.example/sso" here, signOnUrl: "https://idp.example/new" there',
    `!metadata: certificates: ${theirs} is there and not here`,
    `!metadata: certificates: ${ours} is here and not there`,
  ]);
  const url = 'https://idp.example/slo';
  const logout = { url, responseUrl: `${url}/answers`, binding: 'post' };
  expect(await last(metadata(), { logout })).toEqual([
    `!metadata: single logout: "${url}", answers to "${url}/answers", by post here, single logout: nothing there`,
  ]);
  expect(await last(metadata({ id: 'urn:else' }))).toEqual([
    '!metadata: the metadata are not of "urn:idp" but of "urn:else"',
  ]);
  expect(await last('<html>')).toEqual([expect.stringMatching(/^!metadata: .*cannot be read/)]);
  expect(await last('')).toEqual([expect.stringMatching(/^!metadata: .*nobody answers/)]);
});
