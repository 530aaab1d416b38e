import { compactVerify, createLocalJWKSet, decodeProtectedHeader, errors, type JSONWebKeySet } from 'jose';
import type { KeySet } from '../../deps/provider-memory.ts';
import { idTokenAlgorithms } from './id-token-algorithms.ts';

/**
 * Whether newer keys would not help: one of these signed it, or none could have. Decides only what is read again, never
 * whom to believe; the library does that with the keys it gets.
 */
export async function mayHaveSigned(keySet: KeySet, token: string | undefined): Promise<boolean> {
  if (token === undefined || !isSignedAsAccepted(token)) return true;
  try {
    const { kid } = decodeProtectedHeader(token);
    if (kid !== undefined && !keySet.keys.some((key) => key.kid === kid)) return false;
    await compactVerify(token, createLocalJWKSet(keySet as JSONWebKeySet), { algorithms: [...idTokenAlgorithms] });
    return true;
  } catch (error) {
    // Several keys without a distinguishing kid: the library refuses to guess as well, and newer keys would not help.
    if (error instanceof errors.JWKSMultipleMatchingKeys) return await anyHasSigned(error, token);
    return false;
  }
}

async function anyHasSigned(candidates: errors.JWKSMultipleMatchingKeys, token: string): Promise<boolean> {
  for await (const key of candidates) {
    const isItsOwn = await compactVerify(token, key).then(
      () => true,
      () => false,
    );
    if (isItsOwn) return true;
  }
  return false;
}

function isSignedAsAccepted(token: string): boolean {
  try {
    return idTokenAlgorithms.some((alg) => alg === decodeProtectedHeader(token).alg);
  } catch {
    return false;
  }
}
