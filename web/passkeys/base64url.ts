/** The bytes that the server names in base64url. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
}

/** Bytes as the server reads them. */
export function textOf(buffer: ArrayBuffer): string {
  const letters = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(letters).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}
