/** The names of the headers that tell a hub who is signed in. */
export type IdentityHeaders = Record<'user' | 'email' | 'customers' | 'language' | 'token', string>;

const defaults: IdentityHeaders = {
  user: 'X-Vestibule-User',
  email: 'X-Vestibule-Email',
  customers: 'X-Vestibule-Customers',
  language: 'X-Vestibule-Language',
  token: 'X-Vestibule-Token',
};

/** Headers that the portal answers or reads itself. */
const taken = ['x-content-type-options', 'x-frame-options', 'x-forwarded-for', 'x-forwarded-method', 'x-forwarded-uri'];

/** The names, with defaults for those that the configuration file omits. Adds what is wrong with them to `problems`. */
export function readIdentityHeaders(file: Partial<IdentityHeaders> | undefined, problems: string[]): IdentityHeaders {
  const names = { ...defaults, ...file };
  const seen = new Set(taken);
  for (const [setting, name] of Object.entries(names)) {
    if (seen.has(name.toLowerCase())) problems.push(`hub.identityHeaders.${setting}: ${name} has another use`);
    seen.add(name.toLowerCase());
  }
  return names;
}
