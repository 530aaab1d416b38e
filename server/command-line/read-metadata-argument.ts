import { readFile } from 'node:fs/promises';
import { ProviderFailure } from '../single-sign-on/provider-failure.ts';
import { openConversation } from '../single-sign-on/provider-fetch.ts';
import { readSamlMetadata, type SamlMetadata } from '../single-sign-on/saml/read-saml-metadata.ts';
import type { SamlSettings } from '../storage/sso-settings.ts';
import { failure } from './failure.ts';
import { printWarning } from './print.ts';

/** A provider's metadata, from the file or address that an option names. Throws a failure with the reason. */
export async function samlSettingsOf(
  argument: string,
  networks: readonly string[],
): Promise<SamlMetadata & Pick<SamlSettings, 'metadataUrl'>> {
  const metadataUrl = /^https?:\/\//.test(argument) ? argument : null;
  const text = await (metadataUrl === null ? textOfFile(argument) : textAt(metadataUrl, networks));
  const reading = readSamlMetadata(text, { now: new Date() });
  if (reading.kind === 'refused') throw failure(`--metadata: ${reading.problem}.`);
  for (const warning of reading.warnings) printWarning(`Warning: ${warning}.`);
  return { ...reading.settings, metadataUrl };
}

async function textOfFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw failure(`--metadata: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function textAt(url: string, networks: readonly string[]): Promise<string> {
  try {
    return await (await openConversation(networks).read(url)).text();
  } catch (error) {
    if (error instanceof ProviderFailure) throw failure(`--metadata: ${error.message}.`);
    throw error;
  }
}
