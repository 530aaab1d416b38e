import type { Deps } from '../deps.ts';
import { tokenHash } from '../secrets/token.ts';
import {
  endSsoRequestOfOthers,
  type SsoRequestRow,
  takeAnsweredSsoRequest,
  takeSsoRequest,
} from '../storage/sso-request.ts';
import type { Refusal } from './identity.ts';

/** What a browser sends at the end of a visit. An OpenID answer is in the same request, so it needs no token. */
export type Held = {
  state: Buffer;
  /** From the token this browser got when it began, or null. */
  browser: Buffer | null;
} & ({ protocol: 'oidc' } | { protocol: 'saml'; answerToken: string | null });

/**
 * Consumes the visit that this browser both began and brought the answer to, in one statement. An answer brought by
 * another browser is lost with its visit: its sender still has the visit open, and may obtain the answer later.
 */
export async function takeVisit(deps: Deps, held: Held): Promise<{ ok: true; row: SsoRequestRow } | Refusal> {
  const { state: stateHash, browser: browserHash } = held;
  const answerHash = held.protocol === 'saml' && held.answerToken !== null ? tokenHash(held.answerToken) : null;
  if (held.protocol === 'saml' && answerHash === null)
    return unknown('this browser brought no answer to this request, or too long ago');
  const row = await take(deps, stateHash, browserHash, answerHash);
  if (row) return { ok: true, row };
  if (await endSsoRequestOfOthers(deps.sql, { stateHash, browserHash, answerHash }, deps.now()))
    return { ok: false, reason: 'other-browser', words: 'this browser brought the answer and another one began' };
  return unknown('no open request of this browser has this state');
}

async function take(
  { sql, now }: Deps,
  stateHash: Buffer,
  browserHash: Buffer | null,
  answerHash: Buffer | null,
): Promise<SsoRequestRow | null> {
  if (answerHash) return await takeAnsweredSsoRequest(sql, { stateHash, browserHash, answerHash }, now());
  return browserHash && (await takeSsoRequest(sql, stateHash, browserHash, now()));
}

function unknown(words: string): Refusal {
  return { ok: false, reason: 'request-unknown', words };
}
