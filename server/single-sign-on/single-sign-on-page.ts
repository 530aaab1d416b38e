import type { FastifyRequest } from 'fastify';
import { noticeOfSearch } from '#contract/notices.ts';
import type { Page } from '#contract/page.ts';
import type { Deps } from '../deps.ts';
import { readLastRefusal } from '../http/last-refusal.ts';
import { splitUrl } from '../http/request-url.ts';
import { domainOfAddress } from '../names/read-name.ts';
import { listSsoConnectionsOfDomain } from './sso-connection.ts';

/**
 * Data for the single sign-on screen when the typed address's domain has several connections: their names. The address
 * is in the browser's cookie; without it the usual form is shown.
 */
export async function singleSignOnPage(deps: Deps, request: FastifyRequest): Promise<Partial<Page>> {
  if (noticeOfSearch(splitUrl(request.url).search) !== 'chooseConnection') return {};
  const domain = domainOfAddress(readLastRefusal(request, deps.config).username);
  if (!domain) return {};
  const connections = await listSsoConnectionsOfDomain(deps.sql, domain);
  const usable = connections.filter(({ active }) => active);
  return usable.length === 0 ? {} : { connections: usable.map(({ key, name }) => ({ key, name })) };
}
