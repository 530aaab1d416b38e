export const codeLength = 6;

/** Whether the text is exactly six ASCII digits. */
export function isOneTimeCode(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}

/**
 * The six digits in pasted text, or null. Surrounding whitespace and one space or dash inside are tolerated, since
 * authenticator apps copy `123 456`.
 */
export function codeOfPaste(text: string): string | null {
  const match = /^\s*([0-9]+)(?:[\s-]([0-9]+))?\s*$/.exec(text);
  const digits = (match?.[1] ?? '') + (match?.[2] ?? '');
  return isOneTimeCode(digits) ? digits : null;
}

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
