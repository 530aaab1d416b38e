import type { ServerMetadata } from 'openid-client';

/**
 * The parameters that make a provider authenticate the person again (OpenID Connect Core §3.1.2.1). Google doesn't support
 * `prompt=login` and answers it with an error page; a provider's own list takes precedence.
 */
export function afreshParameters({ issuer, prompt_values_supported: known }: ServerMetadata): Record<string, string> {
  const usual = issuer === 'https://accounts.google.com' ? 'select_account' : 'login';
  const prompts = Array.isArray(known) ? known : [usual];
  if (prompts.includes('login')) return { max_age: '0', prompt: 'login' };
  return prompts.includes('select_account') ? { prompt: 'select_account' } : { max_age: '0' };
}
