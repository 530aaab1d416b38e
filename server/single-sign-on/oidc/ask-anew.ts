import type { ServerMetadata } from 'openid-client';

/**
 * The parameters that have a provider ask the person again (OpenID Connect Core §3.1.2.1). Google knows no
 * `prompt=login` and answers it with an error page of its own; providers that list what they know are believed.
 */
export function askAnew({ issuer, prompt_values_supported: known }: ServerMetadata): Record<string, string> {
  const prompts = Array.isArray(known)
    ? known
    : issuer === 'https://accounts.google.com'
      ? ['select_account']
      : ['login'];
  if (prompts.includes('login')) return { max_age: '0', prompt: 'login' };
  return prompts.includes('select_account') ? { prompt: 'select_account' } : { max_age: '0' };
}
