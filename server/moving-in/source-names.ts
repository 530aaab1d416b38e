/** The systems whose exports can be imported. */
export const sourceNames = ['vestibule', 'django', 'aspnet', 'keycloak', 'auth0', 'firebase'] as const;
export type SourceName = (typeof sourceNames)[number];
