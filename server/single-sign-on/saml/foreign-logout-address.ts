import type { SamlConnection, SsoConnection } from '../../storage/sso-connection.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';

/**
 * The key of another provider's connection whose address a connection names for single logout, or null. We sign the
 * messages that are sent there, and every provider accepts our signature, so this provider could end anyone's session
 * at the other one. Tenants of one service may share an origin for sign-on, but not an address.
 */
export function ownerOfLogoutAddress(
  { key, settings }: Pick<SamlConnection, 'key' | 'settings'>,
  connections: readonly SsoConnection[],
): string | null {
  const others = connections.filter(
    (one): one is SamlConnection =>
      one.protocol === 'saml' && one.key !== key && one.settings.entityId !== settings.entityId,
  );
  const isForeign = (address: string) => (other: SamlConnection) => belongsTo(address, settings, other.settings);
  const owners = logoutAddresses(settings).map((address) => others.find(isForeign(address)));
  return owners.find((owner) => owner !== undefined)?.key ?? null;
}

/** Which connections are excluded from single logout for that reason, in words. */
export function foreignLogoutWarnings(connections: readonly SsoConnection[]): string[] {
  return connections.flatMap((connection) => {
    if (connection.protocol !== 'saml') return [];
    const owner = ownerOfLogoutAddress(connection, connections);
    if (owner === null) return [];
    const { key } = connection;
    return [
      `connection ${key} names the address of connection ${owner} for single logout, so nothing is sent there – ask its provider, then vestibule connection set ${key} --metadata <file-or-url>`,
    ];
  });
}

function belongsTo(address: string, own: SamlSettings, other: SamlSettings): boolean {
  const origin = originOf(address);
  const isOthers = originOf(other.signOnUrl) === origin;
  if (originOf(own.signOnUrl) !== origin)
    return isOthers || logoutAddresses(other).some((one) => originOf(one) === origin);
  return isOthers && [other.signOnUrl, ...logoutAddresses(other)].some((one) => placeOf(one) === placeOf(address));
}

function logoutAddresses({ logout }: SamlSettings): string[] {
  return logout ? [logout.url, logout.responseUrl] : [];
}

/** A trailing dot does not change the name. */
function originOf(address: string): string {
  const url = URL.parse(address);
  return url ? `${url.protocol}//${url.hostname.replace(/\.$/, '')}:${url.port}` : address;
}

/** Origin and path, as most servers read them: ignoring case, encoding, parameters and empty parts. */
function placeOf(address: string): string {
  const parts = (URL.parse(address)?.pathname ?? '').split('/').map((part) => readable(part).replace(/;.*/, ''));
  return [originOf(address), ...parts.filter((part) => part !== '')].join('/').toLowerCase();
}

function readable(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
