import { isProviderAddress } from '#server/config/public-url.ts';
import { readTextFile } from '#server/config/read-text-file.ts';
import { openConversation, ProviderFailure } from '#server/http/provider-fetch.ts';
import { canonicalDomain, type Reading } from '#server/names/read-name.ts';
import { readTime } from '#server/names/read-time.ts';
import { readSamlMetadata, type SamlMetadata } from '#server/single-sign-on/saml/provider-metadata.ts';
import type { Attributes, SamlSettings } from '#server/single-sign-on/sso-connection.ts';
import { failure, printWarning } from './print.ts';

/** Reads an email domain into ASCII; at least two labels, so that nobody vouches for a whole country. */
export function readDomain(text: string): Reading {
  const value = canonicalDomain(text.trim().toLowerCase().normalize('NFKC').replace(/^@/, ''));
  const isDomain = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/.test(value) && !/\.\d+$/.test(value);
  return isDomain ? { kind: 'ok', value } : notLike(text, 'a domain such as acme.example');
}

function notLike(text: string, what: string): { kind: 'refused'; problem: string } {
  return { kind: 'refused', problem: `${JSON.stringify(text.slice(0, 200))} is not ${what}` };
}

/** Reads the address of a provider: https, or plain http on this machine for tests. */
export function readProviderUrl(text: string): Reading {
  const value = text.trim();
  // Unchanged: issuers are compared letter by letter.
  if (isProviderAddress(value) && !value.includes('#')) return { kind: 'ok', value };
  return notLike(text, 'an https address without user and fragment (plain http is for this machine only)');
}

/** Reads the portal's id at a provider, or a value such as a scope or acr: visible ASCII. */
export function readProviderValue(text: string): Reading {
  const value = text.trim();
  if (/^[\x21-\x7e]{1,500}$/.test(value)) return { kind: 'ok', value };
  return { kind: 'refused', problem: 'must have 1 to 500 visible ASCII characters without spaces' };
}

/** Reads `what=name`, or several, separated by commas. */
export function readAttributes(text: string): Reading<Attributes> {
  const value: Attributes = {};
  for (const one of text.split(/,(?=[a-z]+=)/)) {
    const [, what, name] = /^(email|username|name|groups|language)=([\x21-\x7e]{1,200})$/.exec(one) ?? [];
    if (!what || !name)
      return notLike(one, 'like email=mail, username=uid, name=displayName, groups=groups or language=locale');
    value[what as keyof Attributes] = name;
  }
  return { kind: 'ok', value };
}

/** Reads the day on which a secret ends, with a warning if it is past. */
export function readDay(text: string): Reading<Date> {
  const day = readTime(text);
  if (!day) return notLike(text, 'a day such as 2027-01-31');
  if (day.getTime() < Date.now()) printWarning(`Warning: --secret-ends ${text} is past.`);
  return { kind: 'ok', value: day };
}

/** A provider's metadata, from the file or address that an option names. Throws a failure with the reason. */
export async function readMetadata(
  argument: string,
  networks: readonly string[],
): Promise<SamlMetadata & Pick<SamlSettings, 'metadataUrl'>> {
  const metadataUrl = /^https?:\/\//.test(argument) ? argument : null;
  const text = metadataUrl === null ? readTextFile(argument) : await textAt(metadataUrl, networks);
  const reading = text.kind === 'ok' ? readSamlMetadata(text.value, new Date()) : text;
  if (reading.kind === 'refused') throw failure(`--metadata: ${reading.problem}.`);
  for (const warning of reading.warnings) printWarning(`Warning: ${warning}.`);
  return { ...reading.settings, metadataUrl };
}

async function textAt(url: string, networks: readonly string[]): Promise<Reading> {
  try {
    return { kind: 'ok', value: await (await openConversation(networks).read(url)).text() };
  } catch (error) {
    if (error instanceof ProviderFailure) return { kind: 'refused', problem: error.message };
    throw error;
  }
}
