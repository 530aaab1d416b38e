import type { SAML } from '@node-saml/node-saml';
import type { Config } from '../../config/config.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';
import { entityId, publicAddress } from '../addresses.ts';

type Options = ConstructorParameters<typeof SAML>[0];

/**
 * node-saml for one message. It signs, decrypts and verifies; its other checks are off, as we make them more strictly:
 * time by the clock that is passed in (checks.ts), the audience, and InResponseTo by the request of this browser.
 */
export async function samlLibrary(config: Config, settings: SamlSettings, more: Partial<Options>): Promise<SAML> {
  const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml');
  return new SAML({
    issuer: entityId(config),
    callbackUrl: publicAddress(config, 'samlAnswer'),
    entryPoint: settings.signOnUrl,
    idpCert: settings.certificates,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    wantAssertionsSigned: true,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    acceptedClockSkewMs: -1,
    audience: false,
    validateInResponseTo: ValidateInResponseTo.never,
    ...more,
  });
}
