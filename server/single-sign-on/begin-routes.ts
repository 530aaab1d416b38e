import type { FastifyReply, FastifyRequest } from 'fastify';
import { isEmailAddress, typedName } from '#contract/addresses.ts';
import { defaultDestination } from '#contract/destination.ts';
import { noticeOfSearch } from '#contract/notices.ts';
import type { Page } from '#contract/page.ts';
import { CheckSsoForm, PerformSsoForm } from '#contract/payloads.ts';
import { screenUrl } from '#contract/screens.ts';
import { isUuid } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { type FormKeeper, formAgain, formKeeper } from '../http/form-again.ts';
import { toldToPage } from '../http/next-page.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride, queryValue, splitUrl, wantsPage } from '../http/request-url.ts';
import { sendFormPolicy } from '../http/security-headers.ts';
import { domainOfAddress } from '../names/read-name.ts';
import { destinationToKeep, keptForm } from '../sessions/destination.ts';
import { findVisit, remembered, visitTokenHash } from '../sessions/visit.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { toSingleSignOn } from '../sign-in/answer-sign-in.ts';
import { beginVisit, cannotBegin, travellerOf } from './begin-visit.ts';
import { detailsOf } from './claim-visit.ts';
import { refusalFor } from './provider-answer.ts';
import { findSsoConnection, listSsoConnectionsOfDomain } from './sso-connection.ts';

export const performSsoSchema = { body: PerformSsoForm };

/**
 * `POST authenticate/performSsoLogin`: redirects to the provider of an address's domain. No user is
 * looked up, so known and unknown people get the same answer, as do an unknown domain and one without single sign-on.
 */
export function performSsoRoute(deps: Deps) {
  const giveAgain = performSsoFormAgain(deps);
  return async function performSso(request: FastifyRequest<{ Body: PerformSsoForm }>, reply: FastifyReply) {
    if (request.validationError && !wantsPage(request)) throw request.validationError;
    const { username, redirectURL, connection: chosen }: Partial<PerformSsoForm> = request.body ?? {};
    const traveller = await travellerOf(deps, reply, {
      redirectUrl: redirectURL,
      giveAgain: (wait) => giveAgain(reply, { status: 429, notice: 'tooManyAttempts', ...wait }),
    });
    if (!traveller) return reply;
    const typed = typedName(username ?? '');
    const { typedUsername } = keptForm(deps.config, { username: typed });
    if (request.validationError || (!isEmailAddress(typed) && wantsPage(request))) {
      const destination = destinationToKeep(deps.config.basePath, traveller.destination);
      const again = { screen: 'singleSignOn', status: 400, notice: 'emailMalformed', destination } as const;
      return await formAgain(deps, reply, again, { typedUsername });
    }
    const domain = domainOfAddress(typed);
    const connections = domain ? await listSsoConnectionsOfDomain(deps.sql, domain) : [];
    const usable = connections.filter(({ active }) => active);
    const connection = usable.find(({ key }) => key === chosen) ?? (usable.length === 1 ? usable[0] : undefined);
    if (connection) return await beginVisit(deps, reply, connection, { ...traveller, typed: typedUsername });
    if (usable.length > 1)
      return toSingleSignOn(reply, deps.config, { notice: 'chooseConnection', username: typedUsername }, traveller);
    const disabled = connections[0] ?? null;
    const refusal = disabled
      ? refusalFor('connection-disabled', 'it is disabled')
      : refusalFor('unknown-domain', 'no connection vouches for the domain of the address');
    return await cannotBegin(deps, reply, refusal, {
      ...traveller,
      connection: disabled,
      typed: typedUsername,
    });
  };
}

/** How the form gets back while the database is down, or the address has to wait. */
export function performSsoFormAgain(deps: Deps): FormKeeper {
  return formKeeper(deps, 'singleSignOn', (form) => {
    const { destination, ...page } = keptForm(deps.config, form);
    return { destination, page };
  });
}

export const checkSsoSchema = { body: CheckSsoForm };

/**
 * `POST authenticate/checkSsoLogin`: redirects to the provider of this browser's last sign-in, or to the
 * form that asks for an address.
 */
export function checkSsoRoute(deps: Deps) {
  return async function checkSso(request: FastifyRequest<{ Body: CheckSsoForm }>, reply: FastifyReply) {
    const { redirectURLSSO, username } = request.body;
    const traveller = await travellerOf(deps, reply, {
      redirectUrl: redirectURLSSO,
      giveAgain: (wait) => refuse(deps, reply, 429, { ...wait, form: keptButton(deps, request) }),
    });
    if (!traveller) return reply;
    const { id } = remembered(deps, request);
    const connection = id === null ? null : await findSsoConnection(deps.sql, id);
    const typed = keptForm(deps.config, { username }).typedUsername.trim();
    const domain = isEmailAddress(typed) ? domainOfAddress(typed) : null;
    // Whoever typed an address of another domain is not who signed in here before.
    if (!connection?.active || (domain !== null && !connection.domains.includes(domain)))
      return toSingleSignOn(reply, deps.config, { username: typed || null }, traveller);
    return await beginVisit(deps, reply, connection, { ...traveller, typed: domain && typed });
  };
}

/** How the button gets back, with the form beside it, while the database is down. */
export function checkSsoFormAgain(deps: Deps): FormKeeper {
  return (reply, wait) => refuse(deps, reply, 503, { ...wait, form: keptButton(deps, reply.request) });
}

function keptButton(deps: Deps, request: FastifyRequest) {
  const { redirectURLSSO: redirectURL, username } = (request.body ?? {}) as CheckSsoForm;
  return keptForm(deps.config, { redirectURL, username });
}

/**
 * `GET authenticate/leave`: a page that redirects to the provider by itself, for an open visit of this browser. Chromium
 * applies `form-action`, which lists only our origin (docs/decisions/0016), to redirects after a form post; a page may
 * lead anywhere.
 */
export function leaveRoute(deps: Deps) {
  const { config, keys, sql } = deps;
  return async function leave(request: FastifyRequest, reply: FastifyReply) {
    const id = queryValue(request, 'visit') ?? '';
    const lang = languageOverride(request);
    const visit = isUuid(id) ? await findVisit(sql, { id }) : null;
    const isOpen = visit !== null && visit.usedAt === null && visit.endsAt > deps.now();
    const cookieHash = visitTokenHash(request, config);
    if (isOpen && cookieHash === null)
      return reply.redirect(screenUrl(config.basePath, 'singleSignOn', { notice: 'cookiesNeeded', lang }), 303);
    const details = visit && cookieHash?.equals(visit.cookieHash) ? detailsOf(keys, visit) : null;
    const connection = details && isOpen ? await findSsoConnection(sql, visit.connectionId) : null;
    if (details && connection?.active && connection.version === visit?.connectionVersion) {
      const { url, fields } = details;
      if (fields) sendFormPolicy(reply, url);
      return await deps.pages.send(reply, 200, {
        screen: { name: 'leaving', isSignOut: false, url, provider: connection.name, ...(fields && { fields }) },
      });
    }
    if ((await visitorOf(deps, request).who()).kind === 'full')
      return reply.redirect(defaultDestination(config.basePath), 303);
    const { destination = defaultDestination(config.basePath), typed = null } = details ?? {};
    return toSingleSignOn(reply, config, { notice: 'signInExpired', username: typed }, { destination, lang });
  };
}

/**
 * Data for the single sign-on screen when the typed address's domain has several connections: their names. The address
 * is in the browser's cookie; without it the usual form is shown.
 */
export async function singleSignOnPage(deps: Deps, request: FastifyRequest): Promise<Partial<Page>> {
  if (noticeOfSearch(splitUrl(request.url).search) !== 'chooseConnection') return {};
  const domain = domainOfAddress(toldToPage(request, deps.config).username);
  if (!domain) return {};
  const connections = await listSsoConnectionsOfDomain(deps.sql, domain);
  const usable = connections.filter(({ active }) => active);
  if (usable.length === 0) return {};
  return { screen: { name: 'singleSignOn', connections: usable.map(({ key, name }) => ({ key, name })) } };
}
