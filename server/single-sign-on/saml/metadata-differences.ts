import type { SamlLogoutService, SamlSettings } from '../../storage/sso-settings.ts';
import { certificateFacts } from './certificate-ends.ts';
import type { SamlMetadata } from './read-saml-metadata.ts';
import { said } from './said.ts';

/** Differences between a provider's metadata and a connection, in words for an operator. */
export function metadataDifferences(here: SamlSettings, there: SamlMetadata): string[] {
  return [
    ...(there.signOnUrl === here.signOnUrl
      ? []
      : [`signOnUrl: ${said(here.signOnUrl)} here, ${said(there.signOnUrl)} there`]),
    ...(there.signOnBinding === here.signOnBinding
      ? []
      : [
          `requests are sent by ${here.signOnBinding ?? 'redirect'} here, by ${there.signOnBinding ?? 'redirect'} there`,
        ]),
    ...logoutDifferences(here.logout, there.logout),
    ...certificateDifferences(here.certificates, there.certificates),
  ];
}

function logoutDifferences(here: SamlLogoutService | undefined, there: SamlLogoutService | undefined): string[] {
  const [ours, theirs] = [logoutWords(here), logoutWords(there)];
  return ours === theirs ? [] : [`single logout: ${ours} here, ${theirs} there`];
}

/** Where and how single logout goes, in words for an operator. */
export function logoutWords(service: SamlLogoutService | undefined): string {
  if (!service) return 'nothing';
  const { url, responseUrl, binding } = service;
  return `${said(url)}${responseUrl === url ? '' : `, answers to ${said(responseUrl)},`} by ${binding}`;
}

function certificateDifferences(here: string[], there: string[]): string[] {
  const [ours, theirs] = [here, there].map(
    (pems) => new Set(pems.map((pem) => certificateFacts(pem)?.fingerprint ?? pem)),
  );
  const only = (one = new Set<string>(), other = new Set<string>()) => [...one].filter((print) => !other.has(print));
  return [
    ...only(theirs, ours).map((print) => `certificates: ${print} is there and not here`),
    ...only(ours, theirs).map((print) => `certificates: ${print} is here and not there`),
  ];
}
