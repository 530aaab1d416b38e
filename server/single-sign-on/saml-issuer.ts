/** The issuer that a SAML response names, unverified; null when it cannot be read. */
export function issuerOfSamlResponse(_samlResponse: string): string | null {
  throw new Error('to be built');
}
