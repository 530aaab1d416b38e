/**
 * The query parameter of the pages of an invitation, which the server words for somebody who cannot sign in yet
 * (docs/decisions/0013). It says nothing else: what a link may do is stored with it.
 */
export const invitedParameter = 'invited';
