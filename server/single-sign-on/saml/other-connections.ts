import type { SamlConnection, SamlSettings, SsoConnection } from '../sso-connection.ts';

type Named = Pick<SamlConnection, 'key' | 'settings'>;

/** The key of another connection that lets the same provider begin, or null: an unsolicited answer names only its issuer. */
export function otherThatMayBegin(one: Named, connections: readonly SsoConnection[]): string | null {
  const other = connections.find(
    ({ protocol, key, settings }) =>
      protocol === 'saml' && key !== one.key && settings.mayBegin && settings.entityId === one.settings.entityId,
  );
  return one.settings.mayBegin ? (other?.key ?? null) : null;
}

/**
 * The key of another provider's connection, if either names the other's address for single logout; or null. All providers
 * know us by one key: what we sign for the one would be valid at the other, which could end anyone's session there.
 * Tenants of one service may share a host for sign-on, but not an address.
 */
export function otherByLogoutAddress(one: Named, connections: readonly SsoConnection[]): string | null {
  const other = connections.find(
    ({ protocol, key, settings }) =>
      protocol === 'saml' &&
      key !== one.key &&
      settings.entityId !== one.settings.entityId &&
      (namesAddressOf(one.settings, settings) || namesAddressOf(settings, one.settings)),
  );
  return other?.key ?? null;
}

function namesAddressOf(own: SamlSettings, other: SamlSettings): boolean {
  return logoutAddresses(own).some((address) => {
    const isShared = hostOf(own.signOnUrl) === hostOf(address);
    if (isShared && hostOf(other.signOnUrl) !== hostOf(address)) return false;
    const placeOf = isShared ? pathOf : hostOf;
    return [other.signOnUrl, ...logoutAddresses(other)].some((theirs) => placeOf(theirs) === placeOf(address));
  });
}

function logoutAddresses({ logout }: SamlSettings): string[] {
  return logout ? [logout.url, logout.responseUrl] : [];
}

/** A trailing dot does not change the name. */
function hostOf(address: string): string {
  const { hostname, port } = new URL(address);
  return `${hostname.replace(/\.$/, '')}:${port}`;
}

/** With the path as most servers read it: ignoring case, encoding, parameters and empty parts. */
function pathOf(address: string): string {
  const path = new URL(address).pathname.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const plain = path
    .replace(/;[^/]*/g, '')
    .replace(/\/+/g, '/')
    .replace(/\/$/, '');
  return (hostOf(address) + plain).toLowerCase();
}
