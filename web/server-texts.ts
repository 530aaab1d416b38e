/** Keys of texts that only the server shows: scripts have none of them. */
export const serverTexts = /^(?:mail-|account-|invitation-|description$)/;
