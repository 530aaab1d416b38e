import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { ProviderFailure } from '../../http/provider-fetch.ts';
import { providerWords, type Refusal, refusalFor, refusalOf } from '../provider-answer.ts';
import { acceptedAlgorithms } from './provider.ts';

/** Why the library rejected an answer. Every error refuses the sign-in, whatever it is. */
export function oidcRefusal(error: unknown): Refusal {
  const failure = [error, causeOf(error)].find((one) => one instanceof ProviderFailure);
  if (failure) return refusalOf(failure);
  if (error instanceof AuthorizationResponseError) {
    const refused = refusalFor('provider-refused', said(error.error, error.error_description));
    return { ...refused, ...(byPerson.includes(error.error) && { isCancelled: true }) };
  }
  const algorithm = unexpectedAlgorithm(error);
  if (algorithm !== null)
    return refusalFor('answer-invalid', `unexpected JWT "alg" header ${algorithm}; ${acceptedAlgorithms}`);
  if (error instanceof ResponseBodyError) return tokenRefusal(error.error, error.error_description);
  if (error instanceof WWWAuthenticateChallengeError) {
    const { error: code = `status ${error.status}`, error_description } = error.cause[0]?.parameters ?? {};
    return refusalFor(
      'connection-broken',
      `the provider does not accept the portal, by ${whatIsShown}: ${said(code, error_description)}`,
    );
  }
  // Not an endpoint's answer: an invalid status, or not JSON.
  if (error instanceof ClientError && causeOf(error) instanceof Response) {
    return refusalFor(
      'provider-unreachable',
      `the provider answers ${(error.cause as Response).status}: ${error.message}`,
    );
  }
  return refusalFor('answer-invalid', [messageOf(error), messageOf(causeOf(error))].filter(Boolean).join(': '));
}

/** The errors that mean the person refused, or did not do what was asked (OpenID Connect Core §3.1.2.6). */
const byPerson = ['access_denied', 'consent_required', 'interaction_required', 'login_required'];

/** A provider that does not know us does not say which is wrong. */
const whatIsShown = 'client id or secret (or key)';

/** The algorithm that a token claims, if that was the problem; otherwise null. */
function unexpectedAlgorithm(error: unknown): string | null {
  const details = [causeOf(error), causeOf(causeOf(error))].find(
    (one): one is { header: { alg?: unknown } } =>
      typeof one === 'object' && one !== null && 'expected' in one && 'header' in one,
  );
  return details ? providerWords(String(details.header.alg)) : null;
}

/** The token endpoint's answer to a code (RFC 6749 §5.2). */
function tokenRefusal(error: string, description: string | undefined): Refusal {
  const words = said(error, description);
  switch (error) {
    case 'invalid_grant':
      return refusalFor('answer-invalid', `the provider does not accept the code: ${words}`);
    case 'access_denied':
      return { ...refusalFor('provider-refused', words), isCancelled: true };
    case 'invalid_client':
      return refusalFor(
        'connection-broken',
        `the token endpoint does not accept the portal, by ${whatIsShown}: ${words}`,
      );
    case 'server_error':
    case 'temporarily_unavailable':
      return refusalFor('provider-unreachable', `the token endpoint answers: ${words}`);
    default:
      return refusalFor('connection-broken', `the token endpoint answers: ${words}`);
  }
}

function said(error: string, description: string | undefined): string {
  return providerWords(description ? `${error} (${description})` : error);
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? providerWords(error.message) : '';
}
