import { randomUUID } from 'node:crypto';
import { callUrl } from '#contract/calls.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { seal } from '../secrets/sealed.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { insertSsoRequest, requestPlace } from '../storage/sso-request.ts';
import { type Refusal, refusalFor } from './identity.ts';
import { startOidc } from './oidc/start.ts';
import type { RequestDetails } from './request-details.ts';
import { startSaml } from './saml/saml.ts';

/** A visitor to send to a provider, and where they go afterwards. */
type Departure = {
  destination: string;
  /** `?lang=` as the visitor set it. */
  lang: string | undefined;
  /** Of the page. */
  language: string;
  /** The address that was typed, for the provider to fill in; null if none was. */
  typed: string | null;
  /** Whether the provider has to authenticate again. */
  isAfresh: boolean;
  /** Of the token by which the browser shows that it began. */
  browserHash: Buffer;
  address: string;
  requestId: string;
};

/** The page that redirects to the provider. */
export type Begun = { kind: 'ok'; leaveUrl: string };

/** The connection was changed or removed while its provider was asked for its addresses: these may be another's. */
type ChangedMeanwhile = { kind: 'changed' };

/**
 * Prepares a visit to a provider: stores what its answer must match, bound to this browser by its token.
 */
export async function beginSingleSignOn(
  deps: Deps,
  connection: SsoConnection,
  departure: Departure,
): Promise<Begun | ChangedMeanwhile | Refusal> {
  if (!connection.active) return refusalFor('connection-disabled', 'it is disabled');
  const state = newToken();
  const started =
    connection.protocol === 'oidc'
      ? await startOidc(deps, connection, {
          state,
          loginHint: departure.typed || null,
          language: departure.language,
          isAfresh: departure.isAfresh,
        })
      : await startSaml(deps, connection, { state, isAfresh: departure.isAfresh });
  if (started.kind === 'refused') return started;
  const { destination, lang, typed, isAfresh, browserHash, address, requestId } = departure;
  const fields = 'fields' in started ? started.fields : null;
  const details: RequestDetails = {
    url: started.url,
    fields,
    destination,
    lang: lang ?? null,
    typed,
    isAfresh,
    kept: started.kept,
  };
  const id = randomUUID();
  const madeAt = deps.now();
  const isStored = await deps.sql.begin(async (sql) => {
    const isSame = await insertSsoRequest(sql, {
      id,
      stateHash: tokenHash(state),
      connectionId: connection.id,
      answersVersion: connection.answersVersion,
      browserHash,
      sealedDetails: seal(deps.keys.seal, JSON.stringify(details), requestPlace(id)),
      madeAt,
      endsAt: new Date(madeAt.getTime() + limits.ssoRequest),
    });
    if (!isSame) return false;
    const { key, customerKey } = connection;
    await insertAuditEvent(sql, { event: 'sso-started', connection: key, customerKey, address, requestId }, madeAt);
    return true;
  });
  if (!isStored) return { kind: 'changed' };
  deps.metrics.singleSignOn.inc({ connection: connection.key, outcome: 'started' });
  return { kind: 'ok', leaveUrl: `${callUrl(deps.config.basePath, 'ssoLeave')}?request=${id}` };
}
