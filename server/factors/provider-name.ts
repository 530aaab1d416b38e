import { readFileSync } from 'node:fs';

type Provider = { aaguid: string; name: string };

/** What keeps passkeys, by the AAGUID that it says; never looked up anywhere else. */
const names = new Map(
  (JSON.parse(readFileSync(new URL('providers.json', import.meta.url), 'utf8')) as Provider[]).map(
    ({ aaguid, name }) => [aaguid, name],
  ),
);

/** The name of what keeps a passkey, or null: many do not say, and anybody may say anything. */
export function providerName(aaguid: string): string | null {
  return names.get(aaguid) ?? null;
}
