import type { FastifyReply, FastifyRequest } from 'fastify';
import { SamlLogoutForm } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../../deps.ts';
import { refuse } from '../../http/refuse.ts';
import { splitUrl, wantsPage } from '../../http/request-url.ts';
import { sendFormPolicy } from '../../http/security-headers.ts';
import { signOutQuestionUrl } from '../../sessions/end-sessions.ts';
import { slowDown } from '../fail.ts';
import { portalKeys } from '../portal-keys.ts';
import { endSessionsByProvider, recordLogoutRefusal } from '../provider-sessions.ts';
import {
  type RefusedLogout,
  readLogoutRequest,
  readPostedMessage,
  readRedirectedMessage,
  saysAllEnded,
  type VerifiedLogout,
  verifiedLogout,
} from './logout-message.ts';
import { carryMessage, logoutResponseXml, newMessageId } from './messages.ts';
import { attributeOf } from './xml.ts';

export const samlLogoutSchema = { body: SamlLogoutForm };

/**
 * `GET` and `POST authenticate/saml/logout`: a provider ends a person's sessions (SAML profiles §4.4.3.3), or answers
 * that it did so for us. A post from its site has none of our cookies, so only the message says whose sessions are
 * meant, and its signature vouches for it. Only failures slow an address down, and a valid message is always accepted: any
 * page that is open at an address can cause failures there.
 */
export function samlLogoutRoute(deps: Deps) {
  const { config } = deps;
  return async function samlLogout(request: FastifyRequest, reply: FastifyReply) {
    reply.header('cache-control', 'no-store');
    const message =
      request.method === 'POST'
        ? readPostedMessage(request.body as SamlLogoutForm)
        : readRedirectedMessage(splitUrl(request.url).search.slice(1));
    if (message.field === 'SAMLResponse')
      return signedOut(reply, { isWhole: message.kind === 'ok' && saysAllEnded(message.root) });
    const logout = message.kind === 'ok' ? await verifiedLogout(deps, message) : message;
    if (logout.kind === 'refused') {
      if (await slowDown(deps, reply, 'refused logouts')) return reply;
      await recordRefusal(request, logout);
      return await refuseLogout(reply);
    }
    const asked = readLogoutRequest(logout.root, deps.now());
    const { connections } = logout;
    if (asked.kind === 'ok') await endSessionsByProvider(deps, request, asked, connections);
    else await recordRefusal(request, { ...asked, connection: connections[0].key });
    const relayState = message.kind === 'ok' ? message.relayState : null;
    return await answer(reply, logout, { relayState, isDone: asked.kind === 'ok' });
  };

  /** Answers the provider, which has others to notify after us. */
  async function answer(
    reply: FastifyReply,
    { connections: [connection], root }: VerifiedLogout,
    { relayState, isDone }: { relayState: string | null; isDone: boolean },
  ) {
    const { logout } = connection.settings;
    if (!logout) return signedOut(reply, { isWhole: true });
    const { responseUrl: to, binding } = logout;
    const inResponseTo = attributeOf(root, 'ID') ?? '';
    const common = { config, id: newMessageId(), destination: to, now: deps.now() };
    const xml = logoutResponseXml({ ...common, inResponseTo, isDone });
    const [key] = await portalKeys(deps);
    const { url, fields } = carryMessage({ field: 'SAMLResponse', xml, to, binding, relayState }, key);
    if (!fields) return reply.redirect(url, 303);
    sendFormPolicy(reply, url);
    const screen = { name: 'leaving', isSignOut: true, url, provider: connection.name, fields } as const;
    return await deps.pages.send(reply, 200, { screen });
  }

  /** The person is signed out here; the next page says if they may not be at the provider. */
  function signedOut(reply: FastifyReply, { isWhole }: { isWhole: boolean }) {
    const notice = isWhole ? {} : { [queryNames.notice]: 'signOutIncomplete' };
    return reply.redirect(screenUrl(config.basePath, 'login', notice), 303);
  }

  /** Nothing ended. The visitor wanted to sign out, so they can. */
  async function refuseLogout(reply: FastifyReply) {
    if (!wantsPage(reply.request)) return await refuse(deps, reply, 400);
    return reply.redirect(signOutQuestionUrl(config.basePath), 303);
  }

  async function recordRefusal(request: FastifyRequest, { problem, connection }: Omit<RefusedLogout, 'kind'>) {
    await recordLogoutRefusal(deps, request, { step: 'SAML logout', outcome: problem }, connection);
  }
}
