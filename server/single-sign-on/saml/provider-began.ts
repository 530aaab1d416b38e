import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Connection } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { countOpenVisits, forgetVisits, visitTokenHash } from '../../sessions/visit.ts';
import { beginVisit, travellerOf } from '../begin-visit.ts';
import { fail } from '../fail.ts';
import { type Refusal, refusalFor } from '../provider-answer.ts';
import { listSsoConnections, type SamlConnection, type SsoConnection } from '../sso-connection.ts';

/** Visits of one browser at the provider. */
const mostAtOnce = 3;

/**
 * An unsolicited answer, from a tile at the provider: anybody can have it posted, so it is not read. Its issuer names the
 * connection where this browser begins a visit of its own at once, if the operator allows that.
 */
export async function providerBegan(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { samlResponse, address }: { samlResponse: string; address: string },
): Promise<FastifyReply> {
  const no = (refusal: Refusal) => fail(deps, request, reply, refusal, { protocol: 'saml', address });
  const text = Buffer.from(samlResponse, 'base64').toString();
  // It answers a request, but not one of ours: asking again would hide that.
  if (text.includes('InResponseTo=')) return await no(refusalFor('request-unknown', 'it answers no request of ours'));
  const issuer = issuerIn(text);
  if (issuer === null) return await no(refusalFor('answer-invalid', 'it names no issuer'));
  const begun = await connectionThatMayBegin(deps.sql, issuer);
  if (begun.kind === 'refused') return await no(begun);
  if (await goesInCircles(deps, request, begun.connection)) {
    await forgetVisits(deps, request, reply);
    return await no(refusalFor('answer-invalid', 'the provider answers our requests by answers to no request'));
  }
  const traveller = await travellerOf(deps, request, reply);
  if (!traveller) return reply;
  return await beginVisit(deps, request, reply, begun.connection, { ...traveller, typed: null });
}

/** A provider that answers no request of ours would go round for ever; a tile may well be pressed twice. */
async function goesInCircles({ config, sql, now }: Deps, request: FastifyRequest, { id }: SsoConnection) {
  const cookieHash = visitTokenHash(request, config);
  return cookieHash !== null && (await countOpenVisits(sql, { cookieHash, connectionId: id }, now())) >= mostAtOnce;
}

/** The first issuer in a message, unverified. */
function issuerIn(text: string): string | null {
  const [, issuer] = /<(?:[\w.-]{1,64}:)?Issuer(?:\s[^<>]{0,512})?>([^<>]{1,1024})</.exec(text) ?? [];
  return issuer?.trim().replaceAll('&amp;', '&') ?? null;
}

/** The one active connection with this issuer whose provider may begin. */
async function connectionThatMayBegin(
  sql: Connection,
  issuer: string,
): Promise<{ kind: 'ok'; connection: SamlConnection } | Refusal> {
  const known = (await listSsoConnections(sql)).filter(
    (connection): connection is SamlConnection =>
      connection.protocol === 'saml' && connection.active && connection.settings.entityId === issuer,
  );
  const [connection, another] = known.filter(({ settings }) => settings.mayBegin);
  if (connection && !another) return { kind: 'ok', connection };
  if (connection) return refusalFor('provider-began', 'several connections have this issuer');
  if (known.length === 0) return refusalFor('provider-began', 'no connection has this issuer');
  return refusalFor('provider-began', 'vestibule connection set --idp-initiated on allows it');
}
