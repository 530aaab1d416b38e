/** Crockford's base32: no letter is mistaken for a digit. */
export const recoveryCodeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 60 bits. */
export const recoveryCodeLetters = 12;

/** Formats a recovery code for display: three groups of four. */
export function groupedRecoveryCode(letters: string): string {
  return letters.match(/.{4}/g)?.join('-') ?? letters;
}

/** The letters of a code as people type it (lower case, any dashes and spaces, O for 0), or null if invalid. */
export function recoveryCodeOfText(text: string): string | null {
  const plain = text
    .toUpperCase()
    .replace(/[\s\u2010-\u2015-]/g, '')
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1');
  return new RegExp(`^[${recoveryCodeAlphabet}]{${recoveryCodeLetters}}$`).test(plain) ? plain : null;
}
