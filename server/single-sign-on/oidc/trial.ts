import type { ServerMetadata } from 'openid-client';
import type { Conversation } from '../../deps/provider-memory.ts';
import type { OidcConnection } from '../../storage/sso-connection.ts';
import type { ClientDeps } from './client.ts';

/** What is needed to test a connection. */
export type Trial = {
  deps: ClientDeps;
  connection: OidcConnection;
  redirectUri: string;
  metadata: ServerMetadata;
  conversation: Conversation;
};
