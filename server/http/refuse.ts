import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Again, ProblemStatus } from '#contract/page.ts';
import type { Problem } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { languageOverride, wantsPage } from './request-url.ts';

/** A status in words: the title of a problem without a type of its own (RFC 9457 §4.2.1). */
export function phraseOf(status: number): string {
  return STATUS_CODES[status] ?? 'Unknown';
}

/**
 * More about a refusal; `retryAfter` in milliseconds; `proxy`: whose mistake it is. The page shows `reference`, if it is not the request's own, and the
 * sign-in form with what is kept in `form`.
 */
type RefusalDetail = {
  detail?: string;
  field?: string;
  retryAfter?: number;
  reference?: string;
  form?: KeptForm | undefined;
  again?: Again | undefined;
  proxy?: string;
};

/** What the sign-in form keeps of an attempt: never the password. */
export type KeptForm = { typedUsername: string; destination: string | undefined };

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was refused, for the log, in words that quote nothing of it; undefined if it was not. */
    whyRefused?: string;
  }
}

/** Answers a refused request: a readable page for a person, a problem document (RFC 9457) for a script. */
export async function refuse(
  deps: Deps,
  reply: FastifyReply,
  status: ProblemStatus,
  { detail, field, retryAfter, reference, form, proxy, again }: RefusalDetail = {},
): Promise<FastifyReply> {
  const { request } = reply;
  // What failed on our side can be opened again, unless something was sent.
  if (status >= 500 && request.method === 'GET') again ??= 'open';
  const retryAfterSeconds = retryAfter === undefined ? null : Math.max(1, Math.ceil(retryAfter / 1000));
  if (retryAfterSeconds !== null) reply.header('retry-after', String(retryAfterSeconds));
  request.whyRefused ??= detail ?? phraseOf(status);
  if (wantsPage(request))
    return await deps.pages.send(reply, status, {
      screen: {
        name: 'problem',
        status,
        retryAfterSeconds,
        ...(form && { hasForm: true }),
        ...(again && { again }),
        ...(proxy && { proxy }),
      },
      reference: reference ?? referenceOfRequest(request.id),
      ...(form && { typedUsername: form.typedUsername }),
      // Or the tab's history keeps what was posted, a password for example, and a reload posts it again.
      ...(request.method === 'POST' && {
        isAnswer: true,
        url: screenUrl(deps.config.basePath, 'login', {
          [queryNames.destination]: form?.destination,
          lang: languageOverride(request),
        }),
      }),
    });
  return sendProblem(reply, status, { ...(detail && { detail }), ...(field && { field }) });
}

/** What a problem document says besides its status; `title` replaces that of the status. */
type ProblemDetail = Omit<Problem, 'type' | 'title' | 'status'> & { title?: string };

/** Answers a script with a problem document. */
export function sendProblem(reply: FastifyReply, status: number, more: ProblemDetail = {}): FastifyReply {
  return reply.code(status).header('content-type', problemType).send(problemText(status, more));
}

export const problemType = 'application/problem+json';

/** The text of a problem document. */
export function problemText(status: number, more: ProblemDetail = {}): string {
  const problem: Problem = { type: 'about:blank', title: phraseOf(status), status, ...more };
  return JSON.stringify(problem);
}
