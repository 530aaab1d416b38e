/** The address that opens an authenticator app and adds the account; separator colons are dropped from both names. */
export function otpauthAddress(secret: string, issuer: string, account: string): string {
  const plain = (text: string) => encodeURIComponent(text.replaceAll(':', ' ').replace(/\p{Surrogate}/gu, '\ufffd'));
  return `otpauth://totp/${plain(issuer)}:${plain(account)}?secret=${plain(secret)}&issuer=${plain(issuer)}`;
}
