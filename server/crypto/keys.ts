/** Keys derived from VESTIBULE_SECRET, one per purpose. */
export type Keys = {
  /** For the digest of the last guess, so that repeating the same wrong password counts once. */
  guess: Buffer;
  /** For digests of codes too short for a plain hash: the first key creates, all are tried. */
  code: Buffer[];
  /** For values that must be decrypted again: the first seals, each opens. */
  seal: Buffer[];
};
