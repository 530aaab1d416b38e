import { type Call, callUrl } from '#contract/calls.ts';
import type { Config } from '../config/config.ts';
import type { SsoConnection } from './sso-connection.ts';

/** The full address of a call as providers know it: from the configuration, never from a request. */
export function publicAddress({ publicUrl, basePath }: Pick<Config, 'publicUrl' | 'basePath'>, call: Call): string {
  return publicUrl.origin + callUrl(basePath, call);
}

/**
 * Where the provider of a connection sends its answers. Each connection has its own address: an answer that arrives at
 * another one does not come from this provider (RFC 9700 §4.4).
 */
export function redirectUri(
  config: Pick<Config, 'publicUrl' | 'basePath'>,
  { key }: Pick<SsoConnection, 'key'>,
): string {
  return `${publicAddress(config, 'oidcCallback')}/${key}`;
}

/** The name by which SAML providers know the portal: the address of its metadata. */
export function entityId(config: Config): string {
  return publicAddress(config, 'samlMetadata');
}
