import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Page } from '#contract/page.ts';
import { changeFailedReasons } from '#contract/reasons.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { isToken, tokenHash } from '../crypto/token.ts';
import { nullIfDatabaseAway } from '../database/connect.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { tellNextPage } from '../http/next-page.ts';
import { destinationOfAddress, languageOverride, queryValue } from '../http/request-url.ts';
import { findResetLink } from './reset-link.ts';

/**
 * What the page of a link shows: the form with its extra data, or the address of a page that says that
 * the link was used or is over. Viewing never consumes a link. An unknown hash shows the form as if it were valid.
 */
export async function resetPage(deps: Deps, reply: FastifyReply): Promise<Partial<Page> | { redirect: string }> {
  const { request } = reply;
  const { config, sql } = deps;
  const asked = queryValue(request, queryNames.hash);
  const waiting = readTokenCookie(request.headers, config, 'reset');
  const token = asked ?? waiting;
  const named = invitedPage(request);
  const name = 'forgottenChange';
  if (!token || !isToken(token)) return { screen: { name, ...named }, typedUsername: '' };
  const link = await findResetLink(sql, tokenHash(token), null).catch(nullIfDatabaseAway);
  const isOpen = link && !link.usedAt && link.endsAt > deps.now();
  const isInvitation = link?.purpose === 'invitation';
  if (link && !isOpen && asked) {
    const kept = {
      [queryNames.destination]: destinationOfAddress(request, config),
      [queryNames.invited]: isInvitation ? 'true' : undefined,
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
  const words = isInvitation ? { invitation: true as const } : named;
  return {
    screen: { name, ...words, ...(asked ? {} : { resetHash: token }) },
    // Never a name typed elsewhere: a password manager would save the new password under it.
    typedUsername: (isOpen && link.user?.username) || '',
  };
}

/** What the address of a page says of an invitation. */
export function invitedPage(request: FastifyRequest): { invitation?: true } {
  return queryValue(request, queryNames.invited) === null ? {} : { invitation: true };
}
