import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { SamlLogoutForm } from '#contract/payloads.ts';
import { screenUrl } from '#contract/screens.ts';
import type { Deps } from '../../deps/deps.ts';
import { sendFormPolicy } from '../../http/form-policy.ts';
import { isInFrame } from '../../http/navigation.ts';
import { refuse } from '../../http/refuse.ts';
import { splitUrl, wantsPage } from '../../http/request-url.ts';
import { tokenHash } from '../../secrets/token.ts';
import { insertAuditEvent } from '../../storage/audit-event.ts';
import { findConnectionOfSentSamlLogout, updateSentSamlLogout } from '../../storage/saml-logout.ts';
import { findSsoConnection, listSsoConnections, type SamlConnection } from '../../storage/sso-connection.ts';
import { knownVisitorOf } from '../../visitor/visitor.ts';
import { portalKeys } from '../portal-keys.ts';
import { recordEndedByProvider, recordLogoutRefusal } from '../provider-logout-events.ts';
import { slowDownForLogout } from '../slow-down.ts';
import { type CarriedMessage, readPostedMessage, readRedirectedMessage } from './carried-message.ts';
import { carryMessage } from './carry-message.ts';
import { validCertificates } from './certificates.ts';
import { endSamlSessions } from './end-saml-sessions.ts';
import { ownerOfLogoutAddress } from './foreign-logout-address.ts';
import { issuerOf, logoutProblem, logoutTimeProblem } from './logout-checks.ts';
import { logoutResponseXml } from './logout-messages.ts';
import { logoutStatus } from './logout-status.ts';
import { newMessageId } from './message-id.ts';
import { said } from './said.ts';
import { attributeOf, type XmlElement } from './xml-elements.ts';

type Refused = { problem: string; connection?: string | undefined };

export const samlLogoutSchema = { body: SamlLogoutForm };

/**
 * `GET` and `POST authenticate/saml/logout`: a provider ends a person's sessions (SAML profiles §4.4.3.3), or answers
 * that it did so for us. A post from its site has none of our cookies, so only the message says whose sessions are
 * meant, and its signature vouches for it. Only failures slow an address down, and a valid message is always accepted: any
 * page that is open at an address can cause failures there.
 */
export function samlLogoutRoute(deps: Deps) {
  const { config, sql } = deps;
  return async function samlLogout(request: FastifyRequest, reply: FastifyReply) {
    reply.header('cache-control', 'no-store');
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address } = visitor;
    const message =
      request.method === 'POST'
        ? readPostedMessage(request.body as SamlLogoutForm)
        : readRedirectedMessage(splitUrl(request.url).search.slice(1));
    if (message.kind === 'refused' && message.field === 'SAMLResponse') {
      if (await countFailure(request, reply, message, { address })) return reply;
      return reply.redirect(callUrl(config.basePath, 'samlLoggedOut'), 303);
    }
    if (message.kind === 'refused') return await turnDown(request, reply, message, { address });
    if (message.field === 'SAMLResponse') return await answered(request, reply, message, address);
    return await asked(request, reply, message, address);
  };

  async function asked(request: FastifyRequest, reply: FastifyReply, message: CarriedMessage, address: string) {
    const issuer = issuerOf(message.root);
    const known = (await listSsoConnections(sql)).filter(
      (one): one is SamlConnection => one.protocol === 'saml' && one.settings.entityId === issuer,
    );
    if (known.length === 0)
      return await turnDown(request, reply, { problem: `no connection has the issuer ${said(issuer)}` }, { address });
    // Several connections may share a provider: what it signed is valid for each of them.
    const verified = known.flatMap((connection) => {
      const root = message.verified(validCertificates(connection.settings, deps.now()));
      return root ? [{ connection, root }] : [];
    });
    const [first] = verified;
    const of = { address, connection: (first?.connection ?? known[0])?.key };
    if (!first) return await turnDown(request, reply, { problem: 'its signature is invalid' }, of);
    const problem = logoutProblem(first.root, 'LogoutRequest', { config, settings: first.connection.settings });
    if (problem) return await turnDown(request, reply, { problem }, of);
    let isDone = true;
    for (const { connection, root } of verified) {
      const outcome = await endSamlSessions(deps, connection, root);
      const more = { address, connection: connection.key };
      if (outcome.kind === 'ok') await recordEndedByProvider(deps, request, outcome.ended, more);
      else {
        isDone = false;
        await record(request, outcome, more);
      }
    }
    return await answer(request, reply, first, { relayState: message.relayState, isDone });
  }

  /** Answers the provider, which has others to notify after us. */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { connection, root }: { connection: SamlConnection; root: XmlElement },
    { relayState, isDone }: { relayState: string | null; isDone: boolean },
  ) {
    const { logout } = connection.settings;
    const owner = ownerOfLogoutAddress(connection, await listSsoConnections(sql));
    if (!logout || owner !== null) return reply.redirect(screenUrl(config.basePath, 'login'), 303);
    const { responseUrl: to, binding } = logout;
    const inResponseTo = attributeOf(root, 'ID') ?? '';
    const common = { config, id: newMessageId(), destination: to, now: deps.now() };
    const xml = logoutResponseXml({ ...common, inResponseTo, isDone });
    const [key] = await portalKeys(deps);
    const { url, fields } = await carryMessage({ field: 'SAMLResponse', xml, to, binding, relayState }, key);
    if (!fields) return reply.redirect(url, 303);
    sendFormPolicy(reply, url);
    const serverPage = { name: 'leaving', isSignOut: true, url, provider: connection.name, fields } as const;
    return await deps.pages.send(request, reply, 200, { serverPage });
  }

  /** Whatever it says, the person is signed out here: the next page says whether they are there too. */
  async function answered(request: FastifyRequest, reply: FastifyReply, message: CarriedMessage, address: string) {
    const sent = attributeOf(message.root, 'InResponseTo') ?? '';
    const refusal = await takeAnswer(request, message, { sent, address });
    const of = { address, connection: refusal?.connection };
    if (refusal && (await countFailure(request, reply, refusal, of))) return reply;
    return reply.redirect(callUrl(config.basePath, 'samlLoggedOut'), 303);
  }

  async function takeAnswer(
    request: FastifyRequest,
    message: CarriedMessage,
    { sent, address }: { sent: string; address: string },
  ): Promise<Refused | null> {
    const now = deps.now();
    const id = await findConnectionOfSentSamlLogout(sql, tokenHash(sent), now);
    const connection = id === null ? null : await findSsoConnection(sql, id);
    if (connection?.protocol !== 'saml') return { problem: `it answers ${said(sent)}, which is not open` };
    const { key, settings } = connection;
    const root = message.verified(validCertificates(settings, now));
    if (!root) return { problem: 'its signature is invalid', connection: key };
    const wrong = logoutProblem(root, 'LogoutResponse', { config, settings }) ?? logoutTimeProblem(root, now);
    if (wrong) return { problem: wrong, connection: key };
    if (attributeOf(root, 'InResponseTo') !== sent)
      return { problem: 'the signed message answers another request', connection: key };
    const { isWhole, words } = logoutStatus(root);
    if (!(await updateSentSamlLogout(sql, tokenHash(sent), isWhole, now)))
      return { problem: 'it was already answered', connection: key };
    const steps = [{ step: 'logout response', outcome: words }];
    const event = { event: 'provider-logout-incomplete', connection: key, address, requestId: request.id } as const;
    if (!isWhole) await insertAuditEvent(sql, { ...event, steps }, now);
    return null;
  }

  /** Nothing ended. The visitor wanted to sign out, so they can. */
  async function turnDown(
    request: FastifyRequest,
    reply: FastifyReply,
    refused: Refused,
    more: { address: string; connection?: string | undefined },
  ) {
    if (isInFrame(request)) return await refuse(deps, request, reply, 403);
    if (await countFailure(request, reply, refused, more)) return reply;
    if (!wantsPage(request)) return await refuse(deps, request, reply, 400);
    return await deps.pages.send(request, reply, 400, {
      serverPage: { name: 'signOutConfirm', query: {}, account: null },
    });
  }

  /** Whether the address has to wait: then the request has been answered. */
  async function countFailure(
    request: FastifyRequest,
    reply: FastifyReply,
    refused: Refused,
    more: { address: string; connection?: string | undefined },
  ): Promise<boolean> {
    if (!isInFrame(request) && (await slowDownForLogout(deps, request, reply, more.address))) return true;
    await record(request, refused, more);
    return false;
  }

  /** Providers use frames for this, and any page can hold one: its errors are neither counted nor recorded. */
  async function record(
    request: FastifyRequest,
    { problem }: Refused,
    more: { address: string; connection?: string | undefined },
  ) {
    if (isInFrame(request)) return;
    await recordLogoutRefusal(deps, request, { step: 'SAML logout', words: problem }, more);
  }
}
