import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { defaultDestination } from '#contract/destination.ts';
import { ProviderBeganForm } from '#contract/payloads.ts';
import type { Deps } from '../deps/deps.ts';
import type { FormKeeper } from '../http/form-again.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { toSingleSignOn } from '../sign-in/to-single-sign-on.ts';
import { findSsoConnectionByKey, type SsoConnection } from '../storage/sso-connection.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { depart, travellerOf } from './depart.ts';

/**
 * `GET authenticate/continue`: the page after an unsolicited answer. Nobody knows who had it posted, so nothing happens
 * until the person confirms, and an existing session stays. It changes nothing and may be loaded again.
 */
export function providerBeganRoute(deps: Deps) {
  const { config } = deps;
  return async function providerBegan(request: FastifyRequest, reply: FastifyReply) {
    const connection = await connectionOf(deps, queryValue(request, 'connection'));
    if (!connection) return toForm(deps, request, reply);
    const who = await visitorOf(deps, request).who();
    return await deps.pages.send(request, reply, 200, {
      serverPage: {
        name: 'providerBegan',
        connection: connection.key,
        provider: connection.name,
        account: who.kind === 'full' ? who.session.username : null,
        goesOnTo: defaultDestination(config.basePath),
      },
    });
  };
}

export const continueWithProviderSchema = { body: ProviderBeganForm };

/** `POST authenticate/continue`: its button, on our own page, begins this browser's own visit. */
export function continueWithProviderRoute(deps: Deps) {
  return async function continueWithProvider(
    request: FastifyRequest<{ Body: ProviderBeganForm }>,
    reply: FastifyReply,
  ) {
    const traveller = await travellerOf(deps, request, reply);
    if (!traveller) return reply;
    const connection = await connectionOf(deps, request.body.connection);
    if (!connection) return toForm(deps, request, reply);
    return await depart(deps, request, reply, connection, { ...traveller, typed: null });
  };
}

/** While the database is down its button stays. */
export function continueWithProviderAgain(deps: Deps): FormKeeper {
  return async function giveAgain(request, reply, wait) {
    const { connection = '' } = (request.body ?? {}) as Partial<ProviderBeganForm>;
    const again = isKey(connection) ? ({ call: 'continueWithProvider', fields: { connection } } as const) : undefined;
    return await refuse(deps, request, reply, 503, { ...wait, again });
  };
}

/** The empty form, to the default destination. */
function toForm({ config }: Deps, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const way = { destination: defaultDestination(config.basePath), lang: languageOverride(request) };
  return toSingleSignOn(reply, config, { username: null }, way);
}

/** The page that asks, for an answer of this connection. */
export function providerBeganUrl({ config }: Deps, { key }: SsoConnection): string {
  return `${callUrl(config.basePath, 'providerBegan')}?${new URLSearchParams({ connection: key })}`;
}

/** Only one whose provider may begin: others are reached by an address of their domain. */
async function connectionOf(deps: Deps, key: string | null): Promise<SsoConnection | null> {
  const connection = key === null || !isKey(key) ? null : await findSsoConnectionByKey(deps.sql, key);
  return connection?.active && connection.protocol === 'saml' && connection.settings.mayBegin ? connection : null;
}

function isKey(text: string): boolean {
  return /^[\w-]+$/.test(text);
}
