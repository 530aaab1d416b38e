/**
 * The bytes of a base64url text, or null unless it is the only text for them: another spelling of the same bytes would pass
 * by a comparison of texts.
 */
export function bytesOfBase64url(text: unknown, longest: number): Buffer | null {
  if (typeof text !== 'string' || text.length > Math.ceil((longest * 4) / 3)) return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
