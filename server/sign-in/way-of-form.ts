import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { happenedSince } from '#contract/turn-of-form.ts';
import type { Deps } from '../deps/deps.ts';
import { languageOverride } from '../http/request-url.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import type { Who } from '../visitor/who.ts';
import { formWithNotice, isOfEarlierTurn } from './form-of-earlier-turn.ts';

/** Where a sign-in leads, in which language, and from where. */
export type WayOfSignIn = { destination: string; lang: string | undefined; address: string };

export type WayOfForm =
  /** It is an earlier person's form: the way is to a new one. */
  | { kind: 'earlier'; url: string }
  /**
   * `asked`: the destination as the form has it, undefined if that may be an earlier person's; `accepted`: the same if it may be
   * gone to, else null.
   */
  | { kind: 'open'; way: WayOfSignIn; asked: string | undefined; accepted: string | null };

/** Where the form of a sign-in leads. Ask before anything in it is looked at: it may be an earlier person's. */
export function wayOfForm(
  deps: Deps,
  request: FastifyRequest<{ Body: { redirectURL?: string; turn?: string } }>,
  reply: FastifyReply,
  { visitor, who }: { visitor: Pick<KnownVisitor, 'address' | 'turns'>; who: Who },
): WayOfForm {
  const { config } = deps;
  const { turn, redirectURL } = request.body;
  // A form that was open before its turn ended, or waited in the history, has the earlier person's destination and password.
  const isTurnOver = turnOfEndedSession(deps, request, reply, who) !== null;
  const since = isTurnOver && turn !== undefined ? 'signOut' : happenedSince(turn, visitor.turns);
  const asked = isTurnOver || since === 'signOut' ? undefined : redirectURL;
  const accepted = asked ? acceptableDestination(asked, config.destinationRules) : null;
  const lang = languageOverride(request);
  if (isOfEarlierTurn(since, who))
    return { kind: 'earlier', url: formWithNotice(config, 'signInExpired', accepted, lang) };
  const destination = accepted ?? defaultDestination(config.basePath);
  return { kind: 'open', way: { destination, lang, address: visitor.address }, asked, accepted };
}
