/** xs:dateTime as SAML writes it: in UTC and nothing else (core §1.3.3). */
const pattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** A moment in an attribute, in milliseconds; null when it is not there, `NaN` when it cannot be read. */
export function samlTime(text: string | null): number | null {
  if (text === null) return null;
  return pattern.test(text) ? Date.parse(text.replace(/(\.\d{3})\d+/, '$1')) : Number.NaN;
}
