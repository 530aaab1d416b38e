import type { Reading } from '../names/read-name.ts';
import type { ReadSource } from './source-user.ts';

/** The systems whose exports can be imported. */
export const sourceNames = ['vestibule', 'django', 'aspnet', 'keycloak', 'auth0', 'firebase'] as const;
export type SourceName = (typeof sourceNames)[number];

/** What reads the exports of a system; `firebaseConfig` is the path of a file. */
export async function openImportSource(
  name: SourceName,
  { firebaseConfig, now }: { firebaseConfig?: string; now: () => Date },
): Promise<Reading<ReadSource>> {
  switch (name) {
    case 'vestibule':
      return { kind: 'ok', value: (await import('./vestibule-source.ts')).readVestibule };
    case 'django':
      return { kind: 'ok', value: (await import('./django-source.ts')).readDjango };
    case 'aspnet':
      return { kind: 'ok', value: (await import('./aspnet-source.ts')).readAspnet(now) };
    case 'keycloak':
      return { kind: 'ok', value: (await import('./keycloak-source.ts')).readKeycloak };
    case 'auth0':
      return { kind: 'ok', value: (await import('./auth0-source.ts')).readAuth0 };
    case 'firebase': {
      const { readFirebase, readFirebaseConfig } = await import('./firebase-source.ts');
      const config = firebaseConfig === undefined ? null : await readFirebaseConfig(firebaseConfig);
      if (config?.kind === 'refused') return config;
      return { kind: 'ok', value: readFirebase(config?.value ?? null) };
    }
  }
}
