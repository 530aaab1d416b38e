import { type Call, callUrl } from '#contract/calls.ts';
import type { Config } from '../config.ts';

/** The whole address of a call as providers know it: from the configuration, never from a request. */
export function publicAddress({ publicUrl, basePath }: Config, call: Call): string {
  return publicUrl.origin + callUrl(basePath, call);
}

/** The name by which SAML providers know the portal: where its metadata are. */
export function entityId(config: Config): string {
  return publicAddress(config, 'samlMetadata');
}
