/** xs:dateTime as in SAML: only in UTC (core §1.3.3). */
const pattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** The time in an attribute, in milliseconds; null if missing, `NaN` if unreadable. */
export function samlTime(text: string | null): number | null {
  if (text === null) return null;
  return pattern.test(text) ? Date.parse(text.replace(/(\.\d{3})\d+/, '$1')) : Number.NaN;
}
