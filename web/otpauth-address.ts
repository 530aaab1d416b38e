/** The address that opens an authenticator app and adds the account; what would part issuer and account is taken out of both. */
export function otpauthAddress(secret: string, issuer: string, account: string): string {
  const plain = (text: string) => encodeURIComponent(text.replaceAll(':', ' ').replace(/\p{Surrogate}/gu, '\ufffd'));
  return `otpauth://totp/${plain(issuer)}:${plain(account)}?secret=${plain(secret)}&issuer=${plain(issuer)}`;
}
