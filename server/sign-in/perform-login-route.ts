import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { LoginForm } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie, setCookie } from '../http/cookies.ts';
import { addressOf } from '../http/guards.ts';
import { clearLastRefusal, setLastRefusal } from '../http/last-refusal.ts';
import { refuse } from '../http/refuse.ts';
import { languageOfRequest, languageOverride } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { secondFactorUrl } from '../two-factor/second-factor-url.ts';
import { signIn } from './sign-in.ts';

/** `POST performlogin` (decisions §6): 303 to the destination, to the second factor, or to a failure page. */
export function performLoginRoute(deps: Deps) {
  const { config } = deps;

  return async function performLogin(request: FastifyRequest<{ Body: LoginForm }>, reply: FastifyReply) {
    const address = addressOf(deps, request);
    if (!address)
      return await refuse(deps, request, reply, 400, { detail: 'The address of the client cannot be told.' });
    const { username, password, redirectURL } = request.body;
    const accepted = redirectURL ? acceptableDestination(redirectURL, config.destinationRules) : null;
    const destination = accepted ?? defaultDestination(config.basePath);
    const result = await signIn(deps, {
      username,
      password,
      address,
      deviceToken: readTokenCookie(request.headers, config, 'device'),
      sessionToken: readTokenCookie(request.headers, config, 'session'),
      rememberedToken: readTokenCookie(request.headers, config, 'remembered'),
      language: languageOfRequest(request),
      userAgent: request.headers['user-agent'],
      requestId: request.id,
    });
    const lang = languageOverride(request);
    switch (result.kind) {
      case 'throttled':
        return await refuse(deps, request, reply, 429, { retryAfter: result.retryAfter });
      case 'refused':
      case 'networkRefused': {
        const isNetwork = result.kind === 'networkRefused';
        setLastRefusal(reply, config, { reference: result.reference, username });
        const query = {
          [queryNames.ipAddress]: isNetwork ? address : undefined,
          [queryNames.destination]: destinationToKeep(destination),
          lang,
        };
        const screen = { name: 'loginFail', type: isNetwork ? 'ip' : 'default' } as const;
        return reply.redirect(screenUrl(config.basePath, screen, query), 303);
      }
      case 'secondFactor':
      case 'signedIn': {
        if (redirectURL && !accepted) await recordRefusedDestination(request, address);
        setCookie(reply, config, 'session', result.sessionToken);
        clearLastRefusal(request, reply, config);
        if (result.kind === 'signedIn') {
          setCookie(reply, config, 'device', result.deviceToken, limits.deviceLifetime);
          if (result.rememberedToken)
            setCookie(reply, config, 'remembered', result.rememberedToken, limits.rememberedDevice);
          return reply.redirect(destination, 303);
        }
        return reply.redirect(secondFactorUrl(config.basePath, result, { destination, lang }), 303);
      }
    }
  };

  /** The fragment stays in the browser and the default needs no keeping. */
  function destinationToKeep(destination: string): string | undefined {
    const kept = destination.split('#', 1)[0] as string;
    const isDefault =
      kept === config.basePath || kept === `${config.basePath}/` || kept === defaultDestination(config.basePath);
    return isDefault ? undefined : kept;
  }

  async function recordRefusedDestination({ id: requestId }: FastifyRequest, address: string): Promise<void> {
    await insertAuditEvent(deps.sql, { event: 'destination-refused', requestId, address }, deps.now());
  }
}
