/** Signatures that only the provider can make: neither none, nor those by a shared secret (HS256 and the like). */
export const idTokenAlgorithms = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
];

/** The list for operators, who choose one of them at the provider. */
export const acceptedAlgorithms = `accepted are ${idTokenAlgorithms.join(', ')}`;
