import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps/deps.ts';
import { setCookie } from '../../http/cookies.ts';
import { splitUrl } from '../../http/request-url.ts';
import { visitTokenHash } from '../../http/visit-cookie.ts';
import { limits } from '../../limits.ts';
import { codeDigest } from '../../secrets/code-digest.ts';
import { seal } from '../../secrets/sealed.ts';
import { isToken, tokenHash } from '../../secrets/token.ts';
import { findSsoConnection } from '../../storage/sso-connection.ts';
import {
  bringSsoAnswer,
  endSsoRequestOfOthers,
  findSsoRequestByState,
  keepBroughtAnswer,
  requestPlace,
  type SsoRequestRow,
} from '../../storage/sso-request.ts';
import { knownVisitorOf } from '../../visitor/visitor.ts';
import { redirectUri } from '../addresses.ts';
import { answerCookie } from '../answer-cookie.ts';
import { failAtOtherBrowser } from '../fail.ts';
import { toFinish } from '../finish-route.ts';
import { type ProviderAnswer, refusalFor } from '../identity.ts';
import { detailsOf, type OidcKept, type WaitingAnswer } from '../request-details.ts';
import { isOpen } from '../visits.ts';
import { readOidcAnswer } from './redeem.ts';

/**
 * `GET authenticate/oidc/callback/<connection>`: where OpenID providers send their answers (OpenID Connect Core
 * §3.1.2.5). Redeeming the code takes as long as the provider does, so nothing is decided here: what was read waits, sealed,
 * for the browser's next request (docs/decisions/0030).
 */
export function oidcCallbackRoute(deps: Deps) {
  const { config, sql } = deps;
  return async function oidcCallback(request: FastifyRequest<{ Params: { connection: string } }>, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address } = visitor;
    // From the configuration: the request's Host must not be compared with an answer.
    const { connection: key } = request.params;
    const url = new URL(redirectUri(config, { key: encodeURIComponent(key) }) + splitUrl(request.url).search);
    const states = url.searchParams.getAll('state');
    const state = states.length === 1 ? (states[0] as string) : '';
    if (!isToken(state)) return toFinish(deps, reply, { protocol: 'oidc', state: '' });
    const stateHash = tokenHash(state);
    const browserHash = visitTokenHash(request, config);
    const token = answerToken(deps, url);
    const now = deps.now();
    const endsAt = new Date(now.getTime() + limits.answerRead);
    const row = await bringSsoAnswer(sql, { stateHash, browserHash, answerHash: tokenHash(token) }, { now, endsAt });
    if (row) await readInto(row, { url, state });
    else if (await endSsoRequestOfOthers(sql, { stateHash, browserHash, answerHash: null }, now)) {
      return await failAtOtherBrowser(deps, request, reply, { protocol: 'oidc', address });
    }
    // The result of a visit that is over is repeated only to a browser that never read it, and so has its cookie still.
    const visit = row ?? (await findSsoRequestByState(sql, stateHash));
    if (browserHash !== null && visit && isOpen(visit, now))
      setCookie(reply, config, answerCookie(state), token, limits.answerWaits);
    return toFinish(deps, reply, { protocol: 'oidc', state });
  };

  async function readInto(row: SsoRequestRow, { url, state }: { url: URL; state: string }): Promise<void> {
    const waiting: WaitingAnswer = { answer: await read(row, { url, state }) };
    await keepBroughtAnswer(sql, row.id, {
      sealedAnswer: seal(deps.keys.seal, JSON.stringify(waiting), requestPlace(row.id)),
      endsAt: new Date(deps.now().getTime() + limits.answerWaits),
    });
  }

  async function read(row: SsoRequestRow, { url, state }: { url: URL; state: string }): Promise<ProviderAnswer> {
    const details = detailsOf(deps.keys, row);
    if (!details) return refusalFor('request-unknown', 'no current secret can open it');
    const connection = await findSsoConnection(sql, row.connectionId);
    if (!connection?.active || connection.protocol !== 'oidc')
      return refusalFor('connection-disabled', 'while the visitor was at the provider');
    return await readOidcAnswer(deps, connection, { url, state, kept: details.kept as OidcKept });
  }
}

/**
 * The token of the browser that brought an answer. Loading the same address again, code included, gives the same token. Only
 * the server can compute it: whoever has read the address and copied the visit's cookie still lacks it.
 */
function answerToken({ keys }: Deps, { pathname, search }: URL): string {
  return codeDigest(keys.code, pathname + search, 'answer of a provider').toString('base64url');
}
