export const codeLength = 6;

/** In UTF-16 code units: what is taken for a code of either kind, with what is around it. */
export const longestCodeText = 60;

/** The text with the decimal digits of every script as 0 to 9, and without the invisible marks that are copied with them. */
export function plainDigits(text: string): string {
  return text.replace(/\p{Cf}/gu, '').replace(/\p{Nd}/gu, digitOf);
}

/** Unicode has the digits of a script in a row, from zero to nine. */
function digitOf(character: string): string {
  const place = character.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(place - before - 1))) before++;
  return String(before % 10);
}

/**
 * The six digits in a text as people type or paste it, such as `123 456` or `Your code is 123456`; null if there are none, or
 * more than one such code. What is part of a word is none: it may be of a recovery code.
 */
export function codeOfText(text: string): string | null {
  const joined = plainDigits(text).replace(/([0-9])[\s\p{Pd}]+(?=[0-9])/gu, '$1');
  const codes = joined.match(/[0-9A-Za-z]+/g)?.filter((word) => /^[0-9]{6}$/.test(word));
  return codes?.length === 1 ? (codes[0] ?? null) : null;
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
  const plain = plainDigits(text)
    .toUpperCase()
    .replace(/[\s\p{Pd}]/gu, '')
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1');
  return new RegExp(`^[${recoveryCodeAlphabet}]{${recoveryCodeLetters}}$`).test(plain) ? plain : null;
}
