import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Notice } from '#contract/notices.ts';
import type { Page } from '#contract/page.ts';
import { type PlainScreen, queryNames, screenUrl } from '#contract/screens.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import { isToken } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { setCookie } from './cookies.ts';
import { languageOverride } from './request-url.ts';

/**
 * A form that could not be processed; `retryAfter` in milliseconds, `destination` and `query` for the form's address. The
 * page shows `reference`, if it is not the request's own.
 */
type FormAgain = {
  screen: PlainScreen;
  notice: Notice;
  destination?: string | undefined;
  query?: Record<string, string | undefined>;
} & ({ status: 429 | 503; retryAfter: number; reference?: string } | { status: 400 });

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Gives a person their form again while the database is down or the queue is full. */
    formAgain?: FormKeeper;
  }
}

/** The body is not validated, and absent if it has not been read. `retryAfter` in milliseconds; an outage unless it says else. */
export type FormKeeper = (
  reply: FastifyReply,
  wait: { retryAfter: number; reference?: string; status?: 429; notice?: Notice },
) => Promise<FastifyReply>;

/** Answers a posted form with the form itself and an explanation, so that what was entered is kept. */
export async function formAgain(
  { config, pages }: Deps,
  reply: FastifyReply,
  again: FormAgain,
  kept: Partial<Page>,
): Promise<FastifyReply> {
  const { screen, status, notice, destination } = again;
  const query = {
    ...again.query,
    [queryNames.notice]: notice,
    [queryNames.destination]: destination,
    [queryNames.language]: languageOverride(reply.request),
  };
  const url = screenUrl(config.basePath, screen, query);
  if (again.status !== 400) reply.header('retry-after', String(Math.max(1, Math.ceil(again.retryAfter / 1000))));
  const reference = again.status === 400 ? null : (again.reference ?? referenceOfRequest(reply.request.id));
  // Without JavaScript a change of language reloads the form, without the hash in it.
  const resetHash = kept.screen?.name === 'forgottenChange' ? kept.screen.resetHash : undefined;
  if (resetHash && isToken(resetHash)) setCookie(reply, config, 'reset', resetHash, limits.resetCookieLifetime);
  return await pages.send(reply, status, { reference, ...kept, url, isAnswer: true });
}

/** How a route gives its form again; `keptOf` reads what is kept from the posted fields. */
export function formKeeper(
  deps: Deps,
  screen: PlainScreen,
  keptOf: (form: Fields, request: FastifyRequest) => Kept,
): FormKeeper {
  return async function giveAgain(reply, wait) {
    const { page, ...address } = keptOf((reply.request.body ?? {}) as Fields, reply.request);
    const again = { screen, status: 503, notice: 'unavailable', ...wait, ...address } as const;
    return await formAgain(deps, reply, again, page);
  };
}

type Fields = Partial<Record<string, string>>;
type Kept = Pick<FormAgain, 'destination' | 'query'> & { page: Partial<Page> };
