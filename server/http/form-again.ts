import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Notice } from '#contract/notices.ts';
import type { Page } from '#contract/page.ts';
import { type PlainScreen, queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { isToken } from '../secrets/token.ts';
import { setCookie } from './cookies.ts';
import { destinationOfAddress } from './destination-of-address.ts';
import { languageOverride, wantsPage } from './request-url.ts';
import { logTemporary, retryAfterOf } from './temporary.ts';

/** A form that could not be processed; `retryAfter` in milliseconds, `destination` for the form's address. */
export type FormAgain = { screen: PlainScreen; notice: Notice; destination?: string | undefined } & (
  | { status: 429 | 503; retryAfter: number }
  | { status: 400 }
);

/** Answers a posted form with the form itself and an explanation, so that what was entered is kept. */
export async function formAgain(
  { config, pages }: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  again: FormAgain,
  kept: Partial<Page>,
): Promise<FastifyReply> {
  const { screen, status, notice, destination } = again;
  const query = {
    [queryNames.notice]: notice,
    [queryNames.destination]: destination,
    [queryNames.language]: languageOverride(request),
  };
  const url = screenUrl(config.basePath, screen, query);
  if (again.status !== 400) reply.header('retry-after', String(Math.max(1, Math.ceil(again.retryAfter / 1000))));
  // Without JavaScript a change of language reloads the form, without the hash in it.
  if (kept.resetHash && isToken(kept.resetHash))
    setCookie(reply, config, 'reset', kept.resetHash, limits.resetCookieLifetime);
  return await pages.send(request, reply, status, { ...kept, url, isAnswer: true });
}

type FormRequest<Body> = FastifyRequest<{ Body: Body }>;
type Handler<Body> = (request: FormRequest<Body>, reply: FastifyReply) => Promise<FastifyReply>;

/** A form handler that returns the form to a person while the database is down or the queue is full. */
export function withFormKept<Body>(
  deps: Deps,
  screen: PlainScreen,
  keptOf: (form: Body) => Partial<Page>,
  handle: Handler<Body>,
): Handler<Body> {
  return async function handleKeepingForm(request, reply) {
    try {
      return await handle(request, reply);
    } catch (error) {
      const retryAfter = retryAfterOf(error);
      const asked = request as FastifyRequest;
      if (retryAfter === null || !wantsPage(asked)) throw error;
      logTemporary(asked, error);
      const destination = destinationOfAddress(asked, deps.config);
      const again = { screen, status: 503, notice: 'unavailable', retryAfter, destination } as const;
      return await formAgain(deps, asked, reply, again, keptOf(request.body as Body));
    }
  };
}
