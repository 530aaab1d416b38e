import type { ServerMetadata } from 'openid-client';
import type { OidcConnection } from '../storage/sso-connection.ts';
import type { ClientDeps } from './oidc-client.ts';
import { ProviderFailure } from './provider-failure.ts';
import type { Conversation } from './provider-fetch.ts';

/** One thing that was tried, in words for the operator. They name the flag of `connection set` that is wrong. */
export type CheckStep = { step: string; ok: boolean; words: string };

/** What a connection is tried with. */
export type Trial = {
  deps: ClientDeps;
  connection: OidcConnection;
  metadata: ServerMetadata;
  conversation: Conversation;
};

export function checkStep(step: string, ok: boolean, words: string): CheckStep {
  return { step, ok, words };
}

/** Why the provider did not answer; throws what is no failure of it. */
export function wordsOf(error: unknown): string {
  if (error instanceof ProviderFailure) return error.message;
  throw error;
}
