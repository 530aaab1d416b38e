import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { SamlForm } from '#contract/payloads.ts';
import type { Config } from '../../config/config.ts';
import { originalTexts } from '../../config/texts.ts';
import { isToken } from '../../crypto/token.ts';
import type { Connection } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { languageOfRequest } from '../../http/request-url.ts';
import { forgetVisits, visitTokenHash } from '../../sessions/visit.ts';
import { beginVisit, travellerOf } from '../begin-visit.ts';
import { claimVisit, type SamlKept } from '../claim-visit.ts';
import { fail } from '../fail.ts';
import { finishVisit } from '../finish-visit.ts';
import { type Refusal, refusalFor } from '../provider-answer.ts';
import { listSsoConnections, type SamlConnection, type SsoConnection } from '../sso-connection.ts';
import { escapedXml } from './messages.ts';
import { readSamlAnswer } from './sign-in.ts';

export const samlAnswerSchema = { body: SamlForm };

/** While the page is parsed: a later submit would leave an entry in the history. */
const script = 'document.forms[0].submit()';

/**
 * `POST authenticate/saml/acs`: where SAML providers have their answers posted (SAML bindings §3.5). The post comes from
 * another site, without our Lax cookies, so nothing of it is read: a form posts it on to our own origin, where the cookie of the
 * browser that brought it is looked at first.
 */
export function samlAcsRoute({ config }: Deps) {
  const policy = bouncePolicy(config);
  const action = callUrl(config.basePath, 'samlFinish');
  return async function samlAcs(request: FastifyRequest<{ Body: SamlForm }>, reply: FastifyReply) {
    const language = languageOfRequest(request);
    const text = (key: 'please-wait' | 'login-title' | 'continue') =>
      escapedXml(config.brand.texts[language]?.[key] ?? originalTexts(language)[key]);
    const { SAMLResponse, RelayState } = request.body;
    const fields = Object.entries({ SAMLResponse, ...(RelayState !== undefined && { RelayState }) })
      .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapedXml(value)}">`)
      .join('\n');
    return reply
      .headers({ 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8' })
      .send(`<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${text('please-wait')}</title>
<form method="post" action="${action}">
${fields}
<noscript>
<h1>${text('login-title')}</h1>
<button>${text('continue')}</button>
</noscript>
</form>
<script>${script}</script>
</html>
`);
  };
}

/** Chromium applies `form-action` also to where the answer of the form's post leads. */
function bouncePolicy({ destinationRules }: Config): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    "img-src 'self'",
    ["form-action 'self'", ...destinationRules.allowedOrigins].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * `POST authenticate/saml/finish`: a SAML answer, posted by our own page. Any provider can have that page posted, so neither
 * the sender nor SameSite proves anything here: the visit's cookie does, with the signed InResponseTo. The visit is
 * claimed before the XML is parsed.
 */
export function samlFinishRoute(deps: Deps) {
  return async function samlFinish(request: FastifyRequest<{ Body: SamlForm }>, reply: FastifyReply) {
    const { SAMLResponse: field, RelayState: state = '' } = request.body;
    if (!isToken(state)) return await providerBegan(deps, reply, field);
    const claimed = await claimVisit(deps, reply, state, 'saml');
    if (!claimed) return reply;
    const kept = claimed.details.kept as SamlKept;
    const answer = await readSamlAnswer(deps, claimed.connection, { field, kept });
    return await finishVisit(deps, reply, claimed, answer);
  };
}

const mostAtOnce = 3;

/**
 * An unsolicited answer, from a tile at the provider: anybody can have it posted, so it is not read. Its issuer names the
 * connection where this browser begins a visit of its own at once, if the operator allows that.
 */
async function providerBegan(deps: Deps, reply: FastifyReply, samlResponse: string): Promise<FastifyReply> {
  const no = (refusal: Refusal) => fail(deps, reply, refusal, { protocol: 'saml' });
  const text = Buffer.from(samlResponse, 'base64').toString();
  // It answers a request, but not one of ours: asking again would hide that.
  if (text.includes('InResponseTo=')) return await no(refusalFor('request-unknown', 'it answers no request of ours'));
  const issuer = issuerIn(text);
  if (issuer === null) return await no(refusalFor('answer-invalid', 'it names no issuer'));
  const begun = await connectionThatMayBegin(deps.sql, issuer);
  if (begun.kind === 'refused') return await no(begun);
  if (await goesInCircles(deps, reply.request, begun.connection)) {
    await forgetVisits(deps, reply);
    return await no(refusalFor('answer-invalid', 'the provider answers our requests by answers to no request'));
  }
  const traveller = await travellerOf(deps, reply);
  if (!traveller) return reply;
  return await beginVisit(deps, reply, begun.connection, { ...traveller, typed: null });
}

/** A provider that answers no request of ours would go round for ever; a tile may well be pressed twice. */
async function goesInCircles({ config, sql, now }: Deps, request: FastifyRequest, { id }: SsoConnection) {
  const open = await sql`
    select from visit where browser_hash = ${visitTokenHash(request, config)} and connection_id = ${id}
      and used_at is null and ends_at > ${now()}`;
  return open.length >= mostAtOnce;
}

/** The first issuer in a message, unverified. */
function issuerIn(text: string): string | null {
  const [, issuer] = /<(?:[\w.-]{1,64}:)?Issuer(?:\s[^<>]{0,512})?>([^<>]{1,1024})</.exec(text) ?? [];
  return issuer?.trim().replaceAll('&amp;', '&') ?? null;
}

async function connectionThatMayBegin(
  sql: Connection,
  issuer: string,
): Promise<{ kind: 'ok'; connection: SamlConnection } | Refusal> {
  const known = (await listSsoConnections(sql)).filter(
    (connection): connection is SamlConnection =>
      connection.protocol === 'saml' && connection.active && connection.settings.entityId === issuer,
  );
  const [connection, another] = known.filter(({ settings }) => settings.mayBegin);
  if (another) return refusalFor('provider-began', `${another.key} has the same issuer: allow it at one connection`);
  if (connection) return { kind: 'ok', connection };
  if (known.length === 0) return refusalFor('provider-began', 'no connection has this issuer');
  return refusalFor('provider-began', 'vestibule connection set --idp-initiated on allows it');
}
