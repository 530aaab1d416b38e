import type { Deps } from '../deps.ts';
import { tokenHash } from '../secrets/token.ts';
import {
  endSsoRequestOfOthers,
  type SsoRequestRow,
  takeAnsweredSsoRequest,
  takeSsoRequest,
} from '../storage/sso-request.ts';
import type { Refusal } from './identity.ts';

/** What a browser shows at the end of a visit. An OpenID answer is in the same request, so it needs no token of its own. */
export type Held = {
  state: Buffer;
  /** By the token that this browser got when it began, or null. */
  browser: Buffer | null;
} & ({ protocol: 'oidc' } | { protocol: 'saml'; answerToken: string | null });

/**
 * Uses up the visit that this browser both began and brought the answer to, in one statement each. An answer that another
 * browser brought is lost with its visit: whoever sent it on may still have it open.
 */
export async function takeVisit({ sql, now }: Deps, held: Held): Promise<{ ok: true; row: SsoRequestRow } | Refusal> {
  const { state: stateHash, browser: browserHash } = held;
  if (held.protocol === 'oidc') {
    const row = browserHash && (await takeSsoRequest(sql, stateHash, browserHash, now()));
    return row ? { ok: true, row } : unknown('no open request of this browser has this state');
  }
  if (held.answerToken === null) return unknown('this browser brought no answer to this request, or too long ago');
  const visit = { stateHash, browserHash, answerHash: tokenHash(held.answerToken) };
  const row = await takeAnsweredSsoRequest(sql, visit, now());
  if (row) return { ok: true, row };
  if (await endSsoRequestOfOthers(sql, visit, now()))
    return { ok: false, reason: 'other-browser', words: 'this browser brought the answer and another one began' };
  return unknown('no open request of this browser has this state');
}

function unknown(words: string): Refusal {
  return { ok: false, reason: 'request-unknown', words };
}
