import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AccountNotice, accountFields, accountNotices, accountUrl } from '#contract/account.ts';
import { reasonOfSearch } from '#contract/reasons.ts';
import { queryNames } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { queryValue, splitUrl } from '../http/request-url.ts';
import { toSignIn } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { type AccountVisit, accountVisitOf } from './account-visit.ts';
import { proofToAsk } from './prove.ts';
import type { Section } from './section.ts';

/** `GET account/…`: a section of the account page, for a full session; anybody else signs in first and comes back to it. */
export function accountRoute(deps: Deps, section: Section) {
  return async function account(request: FastifyRequest, reply: FastifyReply) {
    const visitor = visitorOf(deps, request);
    const visit = await accountVisitOf(deps, visitor);
    if (!visit) return toSignIn(deps, reply, { who: await visitor.who(), page: withoutNotice(deps, section, request) });
    const asked = queryValue(request, accountFields.action);
    const begun = asked !== null && Object.hasOwn(section.actions, asked) ? asked : null;
    const kept = keptFields(section, Object.fromEntries(new URLSearchParams(splitUrl(request.url).search)));
    return await showSection(deps, request, reply, { section, visit, begun, kept, notice: noticeOf(request) });
  };
}

/** Answers with a section as it is now. `retryAfter`, in milliseconds: how long to wait, with status 429. */
export async function showSection(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  shown: {
    section: Section;
    visit: AccountVisit;
    begun: string | null;
    kept: Record<string, string>;
    notice: AccountNotice | null;
    retryAfter?: number;
  },
): Promise<FastifyReply> {
  const { section, visit, begun, kept, notice, retryAfter } = shown;
  const { session } = visit;
  if (retryAfter !== undefined) reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfter / 1000))));
  const needsProof = begun !== null && !visit.account.isPart && section.actions[begun]?.needsProof === true;
  const ask = needsProof ? proofToAsk(visit, deps.now()) : null;
  return await deps.pages.sendAccount(reply, retryAfter === undefined ? 200 : 429, {
    section: section.name,
    view: await section.view(deps, visit, begun),
    username: session.username,
    sessionId: session.id,
    notice,
    reason: notice && reasonOfSearch(splitUrl(request.url).search),
    begun,
    ask,
    kept,
  });
}

/** Of posted fields or a query, those that are kept. */
export function keptFields({ kept }: Section, fields: Partial<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(kept.flatMap((name) => (fields[name] ? [[name, fields[name].slice(0, longestKept)]] : [])));
}

/** In UTF-16 code units: a name, not a text. */
const longestKept = 200;

/** What our own page or form leads to; a link from elsewhere could claim anything. */
function noticeOf(request: FastifyRequest): AccountNotice | null {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return null;
  const asked = queryValue(request, queryNames.notice);
  return asked !== null && Object.hasOwn(accountNotices, asked) ? (asked as AccountNotice) : null;
}

/** The address, as it is to be opened after a sign-in: what it said of an earlier step is over. */
function withoutNotice({ config }: Deps, section: Section, request: FastifyRequest): string {
  const query = Object.fromEntries(new URLSearchParams(splitUrl(request.url).search));
  delete query[queryNames.notice];
  delete query[queryNames.reason];
  return accountUrl(config.basePath, section.name, query);
}
