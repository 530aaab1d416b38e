import type { FastifyReply, FastifyRequest } from 'fastify';
import { type InvitedFor, invitedFor, invitedParameter, invitedValues } from '#contract/invited.ts';
import type { Page } from '#contract/page.ts';
import { changeFailedReasons } from '#contract/reasons.ts';
import { queryNames, screenPaths, screenUrl } from '#contract/screens.ts';
import { isToken, tokenHash } from '../crypto/token.ts';
import { nullIfDatabaseAway } from '../database/connect.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { tellNextPage } from '../http/next-page.ts';
import { destinationOfAddress, languageOverride, queryValue, splitUrl } from '../http/request-url.ts';
import { findResetLink, type ResetLink } from './reset-link.ts';

/**
 * What the page of a link shows: the form with its extra data, or the address of a page that says that
 * the link was used or is over. Viewing never consumes a link. An unknown hash shows the form as if it were valid.
 */
export async function resetPage(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Partial<Page> | { redirect: string }> {
  const { config, sql } = deps;
  const asked = queryValue(request, queryNames.hash);
  const waiting = readTokenCookie(request.headers, config, 'reset');
  const token = asked ?? waiting;
  const named = invitedPage(request);
  const name = 'forgottenChange';
  if (!token || !isToken(token)) return { screen: { name, ...named }, typedUsername: '' };
  const link = await findResetLink(sql, tokenHash(token), { address: null, rpId: null }).catch(nullIfDatabaseAway);
  const isOpen = link && !link.usedAt && link.endsAt > deps.now();
  const invitation = link?.purpose === 'invitation' ? purposeOf(link, config.passkeys !== null) : null;
  if (link && !isOpen && asked) {
    const kept = {
      [queryNames.destination]: destinationOfAddress(request, config),
      [invitedParameter]: invitation ? invitedValues[invitation] : undefined,
      lang: languageOverride(request),
    };
    if (link.usedAt) {
      // The form that it leads to has the name filled in.
      if (link.user) tellNextPage(reply, config, { username: link.user.username });
      return { redirect: screenUrl(config.basePath, 'forgottenChangedInfo', kept) };
    }
    const query = { [queryNames.reason]: String(changeFailedReasons.requestExpired), ...kept };
    return { redirect: screenUrl(config.basePath, 'forgottenChangeFailedInfo', query) };
  }
  // The link leaves the address once the script has it: from there a reload must know that no password is taken.
  if (isOpen && asked && invitation === 'passkey' && named.invitation !== invitation) {
    const query = new URLSearchParams(splitUrl(request.url).search);
    query.set(invitedParameter, invitedValues.passkey);
    return { redirect: `${config.basePath}${screenPaths.forgottenChange}?${query}` };
  }
  const words = invitation ? { invitation } : named;
  return {
    screen: { name, ...words, ...(asked ? {} : { resetHash: token }) },
    // Never a name typed elsewhere: a password manager would save the new password under it.
    typedUsername: (isOpen && link.user?.username) || '',
  };
}

/** What an invitation is for, or was used for, as far as the account tells. */
function purposeOf({ usedAt, user }: ResetLink, canMakePasskeys: boolean): InvitedFor {
  if (user?.passkeyRequired) return 'passkey';
  if (usedAt) return user?.passwordHash ? 'choice' : 'passkey';
  return user?.passkeyTaken && canMakePasskeys ? 'choice' : 'password';
}

/** What the address of a page says of an invitation. */
export function invitedPage(request: FastifyRequest): { invitation?: InvitedFor } {
  const invitation = invitedFor(queryValue(request, invitedParameter));
  return invitation ? { invitation } : {};
}
