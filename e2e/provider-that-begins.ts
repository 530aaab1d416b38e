import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '#server/single-sign-on/make-certificate.ts';
import { addCustomerTo } from './portal-accounts.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

/** Adds a connection whose provider may begin, `begins`; nobody is at the other end. */
export async function addProviderThatBegins(portal: PortalUnderTest): Promise<void> {
  const { certificate } = await makeCertificate('begins.test', new Date());
  const file = join(tmpdir(), `vestibule-begins-${crypto.randomUUID()}.xml`);
  writeFileSync(file, metadataOf(certificate.replace(/-----[^-]+-----|\s/g, '')));
  try {
    await addCustomerTo(portal, 'begins', { name: 'Begins' });
    await portal.mustRun([
      ...['connection', 'add', 'saml', 'begins', '--customer', 'begins', '--name', 'Entra ID of the Northern Works'],
      ...['--domain', 'begins.test', '--metadata', file, '--idp-initiated'],
    ]);
  } finally {
    rmSync(file);
  }
}

function metadataOf(certificate: string): string {
  return `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="https://begins.test/">
  <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://begins.test/sso"/>
  </md:IDPSSODescriptor></md:EntityDescriptor>`;
}
