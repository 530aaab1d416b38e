import type { XmlName } from './xml.ts';

const assertion = 'urn:oasis:names:tc:SAML:2.0:assertion';
const metadata = 'urn:oasis:names:tc:SAML:2.0:metadata';
const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';
const signature = 'http://www.w3.org/2000/09/xmldsig#';
const encryption = 'http://www.w3.org/2001/04/xmlenc#';

export const namespaces = { assertion, metadata, protocol, signature, encryption };

export const saml = (name: string): XmlName => [assertion, name];
export const samlp = (name: string): XmlName => [protocol, name];
export const md = (name: string): XmlName => [metadata, name];
export const ds = (name: string): XmlName => [signature, name];
export const xenc = (name: string): XmlName => [encryption, name];

/** How messages are sent (SAML bindings §3.4, §3.5). */
export const bindings = {
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
};

/** The formats of a person's name (SAML core §8.3). */
export const nameFormats = {
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  entity: 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity',
};

export const algorithms = {
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  enveloped: 'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  rsaOaep: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  /** SHA-1, which is safe in OAEP, and the default of providers. */
  oaepDigest: 'http://www.w3.org/2000/09/xmldsig#sha1',
  gcm: ['http://www.w3.org/2009/xmlenc11#aes256-gcm', 'http://www.w3.org/2009/xmlenc11#aes128-gcm'],
  cbc: ['http://www.w3.org/2001/04/xmlenc#aes256-cbc', 'http://www.w3.org/2001/04/xmlenc#aes128-cbc'],
};
