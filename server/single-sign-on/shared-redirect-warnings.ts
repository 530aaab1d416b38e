import type { Config } from '../config/config.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { ownRedirectUri } from './addresses.ts';

/** Warnings about connections that still use the shared redirect URI: what to register, and by when. */
export function sharedRedirectWarnings(
  connections: readonly SsoConnection[],
  config: Pick<Config, 'publicUrl' | 'basePath'>,
  now: Date,
): string[] {
  return connections.flatMap((connection) => {
    const { key, active, sharedRedirectUntil: until } = connection;
    if (!active || !until) return [];
    const day = until.toISOString().slice(0, 10);
    const when =
      until <= now
        ? `used the shared redirect URI, which expired on ${day}; nobody can return through it`
        : `uses the shared redirect URI, which expires on ${day}`;
    const own = ownRedirectUri(config, connection);
    return [
      `connection ${key} ${when} – register ${own} at its provider, then vestibule connection set ${key} --own-redirect-uri`,
    ];
  });
}
