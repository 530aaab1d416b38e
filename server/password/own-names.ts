type Named = { username: string; email: string; customers: readonly { key: string; name: string }[] };

/** What a user's password may not be: the names of the user, their customers and the hub. */
export function ownNames({ username, email, customers }: Named, hubName: string): string[] {
  const logins = [username, email].flatMap((login) => [login, login.replace(/@[^@]*$/, '')]);
  return [...logins, ...customers.flatMap(({ key, name }) => [key, name]), hubName];
}

/** Shorter names say too little: `al` with additions at its ends is no longer a name. */
const fewestLetters = 4;

/**
 * Whether the password is just one of the names. Only letters and digits are compared, ignoring case, compatibility
 * forms, and the digits at both ends: `2026-MariaLopez!` is `maria.lopez`.
 */
export function isOwnName(password: string, names: readonly string[]): boolean {
  const chosen = comparedForms(password);
  return names.some((name) => {
    const own = comparedForms(name);
    return (
      chosen.text === own.text ||
      (own.plain !== '' && chosen.plain === own.plain) ||
      (lettersIn(own.core) >= fewestLetters && chosen.core === own.core)
    );
  });
}

function comparedForms(text: string): { text: string; plain: string; core: string } {
  // Upper case: lower case has two forms of sigma and an ß that is SS elsewhere.
  const capitals = text.normalize('NFKC').toUpperCase().normalize('NFKC');
  const plain = capitals.replace(/[^\p{L}\p{M}\p{N}]/gu, '');
  return { text: capitals, plain, core: plain.replace(/^\p{N}+|\p{N}+$/gu, '') };
}

function lettersIn(text: string): number {
  return text.match(/\p{L}/gu)?.length ?? 0;
}
