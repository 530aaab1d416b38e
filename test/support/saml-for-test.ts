import { entityId, publicAddress } from '#server/single-sign-on/addresses.ts';
import type { ProviderAnswer } from '#server/single-sign-on/identity.ts';
import { makeCertificate } from '#server/single-sign-on/make-certificate.ts';
import { portalKeys } from '#server/single-sign-on/portal-keys.ts';
import { readSamlAnswer } from '#server/single-sign-on/saml/saml.ts';
import type { SamlConnection } from '#server/single-sign-on/sso-connection.ts';
import type { SamlSettings } from '#server/single-sign-on/sso-settings.ts';
import type { SamlKept } from '#server/single-sign-on/visit-details.ts';
import { type Forger, type ForgerKey, forger } from '../forgeries/forged-saml.ts';
import type { PortalForTest } from './portal-for-test.ts';

export const samlProvider = 'https://idp.corp-b.example/saml';
export const keptForTest: SamlKept = { requestId: '_request-1' };

/** A handmade provider, and the portal's side of a connection with it. */
export type SamlForTest = {
  keys: { provider: ForgerKey; other: ForgerKey; ended: ForgerKey; portalCertificate: string };
  forger: (more?: { requestId?: string | null }) => Forger;
  connection: (settings?: Partial<SamlSettings>, attributes?: SamlConnection['attributes']) => SamlConnection;
  read: (samlResponse: string, to?: SamlConnection, kept?: SamlKept) => Promise<ProviderAnswer>;
};

export async function samlForTest({ deps }: PortalForTest): Promise<SamlForTest> {
  const now = deps.now();
  const longAgo = new Date(now.getTime() - 4 * 365 * 24 * 3_600_000);
  const [provider, other, ended] = await Promise.all([
    makeCertificate('provider', now),
    makeCertificate('forger', now),
    makeCertificate('ended', longAgo),
  ]);
  const [{ certificate: portalCertificate }] = await portalKeys(deps);
  const connection: SamlForTest['connection'] = (settings = {}, attributes = {}) =>
    ({
      protocol: 'saml',
      settings: {
        entityId: samlProvider,
        signOnUrl: 'https://idp.corp-b.example/sso',
        certificates: [ended.certificate, provider.certificate],
        metadataUrl: null,
        mayBegin: false,
        wantsEncryption: false,
        ...settings,
      },
      attributes,
    }) as SamlConnection;
  return {
    keys: { provider, other, ended, portalCertificate },
    forger: ({ requestId = keptForTest.requestId } = {}) =>
      forger({
        key: provider,
        now: deps.now(),
        entityId: samlProvider,
        acs: publicAddress(deps.config, 'samlAnswer'),
        audience: entityId(deps.config),
        requestId,
      }),
    connection,
    read: (samlResponse, to = connection(), kept = keptForTest) =>
      readSamlAnswer(deps, to, { field: samlResponse, kept }),
  };
}
