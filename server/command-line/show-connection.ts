import type { SsoConnection } from '../storage/sso-connection.ts';

/** A connection as JSON shows it: without its sealed secret. */
export function publicView({ sealedSecret, id: _, customerId: __, ...connection }: SsoConnection) {
  return { ...connection, hasSecret: sealedSecret !== null };
}
