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
type LemonldapKey = { certificate: string; privateKey: string };

/** lemonldap-ng.ini: where the rest is; it is read only at start. */
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

/** lmConf-1.json, as the Manager would save it. Anything omitted has LemonLDAP::NG's default. */
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
    // With the slash, which is part of the issuer.
    portal: `${origin}/`,
    // Required, and removed from the cookies again in portal.psgi.
    domain: new URL(origin).hostname,
    // With SAML it would be None, which browsers accept only over https.
    sameSite: 'Lax',
    // Seals a form's state in the browser; without it the portal does not start.
    key: 'only for the tests',
    authentication: 'Demo',
    userDB: 'Same',
    passwordDB: 'Null',
    registerDB: 'Null',
    demoExportedVars: { uid: 'uid', cn: 'cn', mail: 'mail' },
    // Demo doesn't record it: everyone in the directory has a company address.
    macros: { mailVerified: '1', _whatToTrace: '$_user' },
    whatToTrace: '_whatToTrace',
    globalStorage: 'Apache::Session::File',
    globalStorageOptions: sessions('sessions'),
    persistentStorage: 'Apache::Session::File',
    persistentStorageOptions: sessions('persistent'),
    localSessionStorage: 'Cache::FileCache',
    localSessionStorageOptions: { namespace: 'sessions', cache_root: `${folder}/cache`, cache_depth: 1 },
    // It rejects its own default: it guards no other host.
    locationRules: { [new URL(origin).host]: { default: 'accept' } },
    // See portal.psgi.
    captcha: '::Captcha::None',
    notification: 0,
    ...oidc(client, privateKey, publicKey),
    ...samlIdp(client, saml),
  };
}

function oidc(client: LemonldapClient, privateKey: string, publicKey: string): object {
  const portal = {
    oidcRPMetaDataOptionsClientID: client.clientId,
    oidcRPMetaDataOptionsClientSecret: client.clientSecret,
    // HS512 by default, which is refused here as a signature that the client could create itself.
    oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256',
    oidcRPMetaDataOptionsRequirePKCE: 1,
    // Separated by spaces, and compared exactly.
    oidcRPMetaDataOptionsRedirectUris: client.redirectUris.join(' '),
    oidcRPMetaDataOptionsPostLogoutRedirectUris: client.postLogoutRedirectUris.join(' '),
    oidcRPMetaDataOptionsLogoutBypassConfirm: 1,
    oidcRPMetaDataOptionsUserIDAttr: 'uid',
    oidcRPMetaDataOptionsBypassConsent: 1,
  };
  return {
    issuerDBOpenIDConnectActivation: 1,
    oidcServicePrivateKeySig: privateKey,
    oidcServicePublicKeySig: publicKey,
    oidcServiceKeyIdSig: 'oidc-1',
    oidcServiceAllowAuthorizationCodeFlow: 1,
    oidcRPMetaDataOptions: { portal },
    oidcRPMetaDataExportedVars: { portal: claims },
  };
}

/** Name of the claim, and its source; `bool` keeps `email_verified` from being the string "1". */
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
    // Whether it is required, name, format, friendly name.
    samlSPMetaDataExportedAttributes: {
      portal: { mail: '1;mail;urn:oasis:names:tc:SAML:2.0:attrname-format:basic;mail' },
    },
  };
}
