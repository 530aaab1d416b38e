import type { FastifyReply, FastifyRequest } from 'fastify';
import { screenUrl } from '#contract/screens.ts';
import { forOtherAccount } from '#contract/sign-out-question.ts';
import type { Deps } from '../deps/deps.ts';
import { languageOverride } from '../http/request-url.ts';
import { turnsOf } from '../http/turns.ts';
import { endVisits } from '../http/visit-cookies.ts';
import { tokenHash } from '../secrets/token.ts';
import { endSession } from '../session/end-session.ts';
import { signOutQuestionUrl } from '../session/sign-out-question.ts';
import { endTurnHere } from '../session/turn-of-ended-session.ts';
import { putEndedTurn } from '../storage/ended-session.ts';
import type { SsoRequestRow } from '../storage/sso-request.ts';
import { askAfresh } from '../visitor/ask-afresh.ts';
import { markHashes } from '../visitor/mark-hashes.ts';
import { turnHash } from '../visitor/turn-hash.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { endQuestionsHere, isAskedHere, type Question, questionIn, signedInHere } from './other-account.ts';
import { keptOutcome } from './outcome.ts';

/**
 * Nobody can press the other button any more, on this page, one in another tab or in the history, nor get what it has led to, and a
 * session of that account in this browser ends. However late: the session at the provider is still somebody else's. Where nobody
 * else is signed in, half or fully, it ends the turn, as a sign-out does: the visit's tab may have been that person's, too.
 */
export async function decline(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { row, visitor }: { row: SsoRequestRow | null; visitor: KnownVisitor },
): Promise<FastifyReply> {
  const { config, sql } = deps;
  await endQuestionsHere(deps, request);
  const question = row && questionIn(deps, row);
  const who = await visitor.who();
  const disowned = await disownedSession(deps, request, { row, question, visitor });
  const isOver = disowned !== null || who.kind === 'nobody' || who.kind === 'ended';
  if (isOver) {
    const { turns, address, requestId } = visitor;
    const [now, marks] = [deps.now(), markHashes(turns)];
    if (disowned) await endSession(sql, disowned, { markHashes: marks, now, address, requestId });
    // The browser may not read this response. Nobody else ends its turn, nor fills the table.
    if (row && isAskedHere(deps, request, row)) await putEndedTurn(sql, disowned ? [...marks, disowned] : marks, now);
    endTurnHere(deps, request, reply);
  } else {
    endVisits(request, reply, config);
    askAfresh(reply, config, turnsOf(request, config)?.signedOut ?? null);
  }
  const query = { lang: languageOverride(request) };
  // Somebody has signed in in another tab since; of a changed connection, nobody knows any more whose account was in question.
  if (who.kind === 'full' && !disowned)
    return reply.redirect(signOutQuestionUrl(config.basePath, forOtherAccount, query), 303);
  return reply.redirect(screenUrl(config.basePath, 'login', query), 303);
}

/**
 * The hash of the session of the account that a person has just said is not theirs: opened by the other button, whose answer they
 * have not read, or left here by the account's owner. A browser ends only its own, so it need not have been asked. If nobody
 * knows any more whose account it was, any but one that is fully signed in; and one that is over, whose cookie is still here. Null
 * if there is none.
 */
async function disownedSession(
  deps: Deps,
  request: FastifyRequest,
  { row, question, visitor }: { row: SsoRequestRow | null; question: Question | null; visitor: KnownVisitor },
): Promise<Buffer | null> {
  const outcome = row && isAskedHere(deps, request, row) ? await keptOutcome(deps, row) : null;
  if (outcome && 'sessionToken' in outcome) return tokenHash(outcome.sessionToken);
  const who = await visitor.who();
  const here = who.kind === 'half' ? who.half.username : (await signedInHere(deps, request))?.username;
  if (here === undefined) return who.kind === 'ended' ? turnHash(visitor) : null;
  const isDisowned = question ? here === question.username : who.kind !== 'full';
  return isDisowned ? turnHash(visitor) : null;
}
