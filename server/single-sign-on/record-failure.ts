import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep, SsoRefusalReason } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import type { SsoConnection } from './sso-connection.ts';

/** A failed sign-in by a provider, as shown to an operator. */
export type SsoFailure = {
  reason: SsoRefusalReason;
  connection: SsoConnection | null;
  user?: { id: string; username: string };
  steps: AuditStep[];
  address: string;
  requestId: string;
};

/** Records the failure; visitors read out the reference. */
export async function recordSsoFailure(deps: Deps, failure: SsoFailure): Promise<string> {
  const { reason, connection, user, steps, address, requestId } = failure;
  const reference = newReference();
  await insertAuditEvent(
    deps.sql,
    {
      event: 'sso-refused',
      reason,
      reference,
      steps,
      address,
      requestId,
      ...(connection && { connection: connection.key, customerKey: connection.customerKey }),
      ...(user && { userId: user.id, username: user.username }),
    },
    deps.now(),
  );
  deps.metrics.singleSignOn.inc({ connection: connection?.key ?? 'none', outcome: reason });
  deps.metrics.signIns.inc({ way: connection?.protocol ?? 'unknown', outcome: reason });
  return reference;
}
