/**
 * The query parameter of the pages of an invitation, which the server words for somebody who has no password yet
 * (docs/decisions/0053). It says nothing else: what a link may do is stored with it.
 */
export const invitedParameter = 'invited';
