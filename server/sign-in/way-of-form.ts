import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { forOtherAccount } from '#contract/sign-out-question.ts';
import { happenedSince } from '#contract/turn-of-form.ts';
import type { Deps } from '../deps/deps.ts';
import { languageOverride } from '../http/request-url.ts';
import { signOutQuestionUrl } from '../session/sign-out-question.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { personOf, type Who } from '../visitor/who.ts';
import { formWithNotice, isOfEarlierTurn } from './form-of-earlier-turn.ts';

/** Where a sign-in leads, in which language, and from where. */
export type WayOfSignIn = { destination: string; lang: string | undefined; address: string };

export type WayOfForm =
  /** It is an earlier person's form: the way is to a new one, or to a page that asks whoever is signed in whether to sign out. */
  | { kind: 'earlier'; url: string }
  /**
   * `asked`: the destination as the form has it, undefined if that may be an earlier person's; `accepted`: the same if it may be
   * gone to, else null; `onlyFor`: the user whom it signs in, since they have signed in in another tab meanwhile; null for anybody.
   */
  | { kind: 'open'; way: WayOfSignIn; asked: string | undefined; accepted: string | null; onlyFor: string | null };

/** Where the form of a sign-in leads. Ask before anything in it is looked at: it may be an earlier person's. */
export function wayOfForm(
  deps: Deps,
  request: FastifyRequest<{ Body: { username?: string; redirectURL?: string; turn?: string } }>,
  reply: FastifyReply,
  { visitor, who }: { visitor: Pick<KnownVisitor, 'address' | 'turns'>; who: Who },
): WayOfForm {
  const { config } = deps;
  const { username, turn, redirectURL } = request.body;
  // A form that was open before its turn ended, or waited in the history, has the earlier person's destination and password.
  const isTurnOver = turnOfEndedSession(deps, request, reply, who) !== null;
  const since = isTurnOver && turn !== undefined ? 'signOut' : happenedSince(turn, visitor.turns);
  const asked = isTurnOver || since === 'signOut' ? undefined : redirectURL;
  const accepted = asked ? acceptableDestination(asked, config.destinationRules) : null;
  const lang = languageOverride(request);
  if (isOfEarlierTurn(since, who, username)) {
    const isOthers = since === 'signIn' && who.kind === 'full';
    const url = isOthers
      ? signOutQuestionUrl(config.basePath, forOtherAccount, { lang })
      : formWithNotice(config, 'signInExpired', accepted, lang);
    return { kind: 'earlier', url };
  }
  const destination = accepted ?? defaultDestination(config.basePath);
  const onlyFor = since === 'signIn' ? (personOf(who)?.userId ?? null) : null;
  return { kind: 'open', way: { destination, lang, address: visitor.address }, asked, accepted, onlyFor };
}
