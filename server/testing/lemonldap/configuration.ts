import { generateKeyPairSync } from 'node:crypto';

/** A portal that LemonLDAP::NG signs people in to. */
export type LemonldapClient = {
  /** What the portal publishes as its SAML metadata. */
  samlMetadata: string;
  clientId: string;
  clientSecret: string;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
};

/** How it signs for SAML. */
export type LemonldapKey = { certificate: string; privateKey: string };

/** lemonldap-ng.ini: where the rest is, and that it is read again at every start alone. */
export function lemonldapIni(folder: string, pages: string): string {
  return `[all]
logLevel = notice
logger = Lemonldap::NG::Common::Logger::Std
[configuration]
type = File
dirName = ${folder}
localStorage = Cache::FileCache
localStorageOptions = { 'namespace' => 'configuration', 'cache_root' => '${folder}/cache', 'cache_depth' => 1 }
[portal]
staticPrefix = /static
templateDir = ${pages}/templates
languages = en
`;
}

/** lmConf-1.json, as the Manager would save it. What is not said here is as LemonLDAP::NG has it. */
export function lemonldapConfiguration(
  origin: string,
  folder: string,
  client: LemonldapClient,
  saml: LemonldapKey,
): object {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const sessions = (name: string) => ({
    Directory: `${folder}/${name}`,
    LockDirectory: `${folder}/${name}/lock`,
    generateModule: 'Lemonldap::NG::Common::Apache::Session::Generate::SHA256',
  });
  return {
    // Without a number and a date there is "No configuration available".
    cfgNum: 1,
    cfgDate: 1,
    cfgVersion: '2.16.1',
    cfgAuthor: 'tests',
    // With the slash, which is a part of the issuer.
    portal: `${origin}/`,
    // Asked for, and taken out of the cookies again in portal.psgi.
    domain: new URL(origin).hostname,
    // With SAML it would be None, which browsers take by https alone.
    sameSite: 'Lax',
    // Seals what the browser brings back of a form; without it the portal does not start.
    key: 'only for the tests',
    authentication: 'Demo',
    userDB: 'Same',
    passwordDB: 'Null',
    registerDB: 'Null',
    demoExportedVars: { uid: 'uid', cn: 'cn', mail: 'mail' },
    // Demo knows nothing of it: whoever is in the directory has an address that the company gave.
    macros: { mailVerified: '1', _whatToTrace: '$_user' },
    whatToTrace: '_whatToTrace',
    globalStorage: 'Apache::Session::File',
    globalStorageOptions: sessions('sessions'),
    persistentStorage: 'Apache::Session::File',
    persistentStorageOptions: sessions('persistent'),
    localSessionStorage: 'Cache::FileCache',
    localSessionStorageOptions: { namespace: 'sessions', cache_root: `${folder}/cache`, cache_depth: 1 },
    // The default is one that it does not take itself: it guards no other host.
    locationRules: { [new URL(origin).host]: { default: 'accept' } },
    // See portal.psgi.
    captcha: '::Captcha::None',
    notification: 0,
    ...oidc(client, privateKey, publicKey),
    ...samlIdp(client, saml),
  };
}

function oidc(client: LemonldapClient, privateKey: string, publicKey: string): object {
  const relyingParty = {
    oidcRPMetaDataOptionsClientID: client.clientId,
    oidcRPMetaDataOptionsClientSecret: client.clientSecret,
    // HS512 unless it is said, which is refused here as a signature that the client could make itself.
    oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256',
    oidcRPMetaDataOptionsRequirePKCE: 1,
    // Divided by spaces, and compared letter by letter.
    oidcRPMetaDataOptionsRedirectUris: client.redirectUris.join(' '),
    oidcRPMetaDataOptionsPostLogoutRedirectUris: client.postLogoutRedirectUris.join(' '),
    oidcRPMetaDataOptionsLogoutBypassConfirm: 1,
    oidcRPMetaDataOptionsUserIDAttr: 'uid',
  };
  return {
    issuerDBOpenIDConnectActivation: 1,
    oidcServicePrivateKeySig: privateKey,
    oidcServicePublicKeySig: publicKey,
    oidcServiceKeyIdSig: 'oidc-1',
    oidcServiceAllowAuthorizationCodeFlow: 1,
    oidcRPMetaDataOptions: {
      portal: { ...relyingParty, oidcRPMetaDataOptionsBypassConsent: 1 },
      asking: { ...relyingParty, oidcRPMetaDataOptionsClientID: askingClientId(client) },
    },
    oidcRPMetaDataExportedVars: { portal: claims, asking: claims },
  };
}

/**
 * The same client, but whoever comes by it is asked for consent once, and may refuse. Not for all: who was asked is led
 * to the provider's own page after a sign-out, and not back to the portal.
 */
export function askingClientId({ clientId }: Pick<LemonldapClient, 'clientId'>): string {
  return `${clientId}-asking`;
}

/** Name of the claim, and where it comes from; `bool` keeps `email_verified` from being the word "1". */
const claims = { email: 'mail', email_verified: 'mailVerified;bool;auto', name: 'cn', preferred_username: 'uid' };

function samlIdp(client: LemonldapClient, { certificate, privateKey }: LemonldapKey): object {
  return {
    issuerDBSAMLActivation: 1,
    samlServicePrivateKeySig: privateKey,
    samlServicePublicKeySig: certificate,
    samlServiceSignatureMethod: 'RSA_SHA256',
    samlOrganizationName: 'Tests',
    samlOrganizationDisplayName: 'Tests',
    samlOrganizationURL: 'http://idp.test/',
    samlSPMetaDataXML: { portal: { samlSPMetaDataXML: client.samlMetadata } },
    samlSPMetaDataOptions: {
      portal: {
        samlSPMetaDataOptionsNameIDFormat: 'persistent',
        samlSPMetaDataOptionsSignSSOMessage: 1,
        samlSPMetaDataOptionsCheckSSOMessageSignature: 1,
        samlSPMetaDataOptionsSignSLOMessage: 1,
        samlSPMetaDataOptionsCheckSLOMessageSignature: 1,
        samlSPMetaDataOptionsForceUTF8: 1,
      },
    },
    // Whether it must be there, name, format, friendly name.
    samlSPMetaDataExportedAttributes: {
      portal: { mail: '1;mail;urn:oasis:names:tc:SAML:2.0:attrname-format:basic;mail' },
    },
  };
}
