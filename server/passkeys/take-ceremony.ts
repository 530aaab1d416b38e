import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { tokenHash } from '../secrets/token.ts';
import { type PasskeyChallenge, type PasskeyPurpose, takePasskeyChallenge } from '../storage/passkey-challenge.ts';
import type { ClientData } from './client-data.ts';

/** The ceremony that an answer belongs to; null for an answer to none, or to one for something else. `steps` say why. */
export async function takeCeremony(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  { challenge }: ClientData,
  given: { browserToken: string | null; purpose: PasskeyPurpose },
  steps: AuditStep[],
): Promise<PasskeyChallenge | null> {
  const { browserToken, purpose } = given;
  const refused = (outcome: string) => {
    steps.push({ step: 'challenge', outcome });
    return null;
  };
  if (browserToken === null) return refused('the browser shows no cookie of a ceremony');
  const hashes = { challengeHash: tokenHash(challenge), browserHash: tokenHash(browserToken) };
  const taken = await takePasskeyChallenge(sql, { ...hashes, now: now() });
  if (!taken) return refused('not one of this browser, or answered before');
  if (taken.isOver) return refused('expired');
  if (taken.purpose !== purpose) return refused(`begun for ${taken.purpose}, answered for ${purpose}`);
  steps.push({ step: 'challenge', outcome: `taken, for ${purpose}` });
  return taken;
}
