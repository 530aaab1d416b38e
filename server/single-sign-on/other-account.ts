import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import type { Deps } from '../deps.ts';
import { beginVisit, visitTokenHash } from '../http/visit-cookies.ts';
import { limits } from '../limits.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { putQuestion, questionPlace, type SsoRequestRow } from '../storage/sso-request.ts';
import type { Identity } from './identity.ts';

/** What a provider said, and whom it would sign in once the person confirms. */
export type Question = { identity: Identity; username: string };

/**
 * Keeps an answer that would sign in another person than the browser expects, and redirects to the page that asks. Only
 * this browser can open it; its cookie ends like a visit's, with a sign-in or sign-out.
 */
export async function askWho(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { id }: SsoRequestRow,
  question: Question,
): Promise<FastifyReply> {
  const token = newToken();
  await putQuestion(deps.sql, id, {
    sealedQuestion: seal(deps.keys.seal, JSON.stringify(question), questionPlace(id)),
    questionHash: tokenHash(token),
    endsAt: new Date(deps.now().getTime() + limits.questionOfAnswer),
  });
  beginVisit(request, reply, deps.config, { stateHash: tokenHash(id), token });
  return reply.redirect(questionUrl(deps, id), 303);
}

/** The page that asks. */
export function questionUrl({ config }: Deps, id: string): string {
  return `${callUrl(config.basePath, 'otherAccount')}?request=${id}`;
}

/** The hash that proves this is the browser being asked; null if it isn't. */
export function questionHashOf({ config }: Deps, request: FastifyRequest, id: string): Buffer | null {
  return visitTokenHash(request, config, tokenHash(id));
}

/** The open question of a request to this browser; null if there is none, or no longer. */
export function openQuestion(deps: Deps, request: FastifyRequest, row: SsoRequestRow): Question | null {
  const { id, sealedQuestion, questionHash, questionEndsAt } = row;
  if (!sealedQuestion || !questionEndsAt || questionEndsAt <= deps.now()) return null;
  if (!questionHashOf(deps, request, id)?.equals(questionHash as Buffer)) return null;
  return questionIn(deps, id, sealedQuestion);
}

/** Null if no current secret opens it. */
export function questionIn({ keys }: Deps, id: string, sealed: Buffer): Question | null {
  const text = unseal(keys.seal, sealed, questionPlace(id));
  return text === null ? null : (JSON.parse(text) as Question);
}
