import type { Reading } from '../names/read-name.ts';
import { readAspnet } from './aspnet-source.ts';
import { readAuth0 } from './auth0-source.ts';
import { readDjango } from './django-source.ts';
import { readFirebase, readFirebaseConfig } from './firebase-source.ts';
import { readKeycloak } from './keycloak-source.ts';
import type { SourceName } from './source-names.ts';
import type { ReadSource } from './source-user.ts';
import { readVestibule } from './vestibule-source.ts';

/** What reads the exports of a system; `firebaseConfig` is the path of a file. */
export async function openImportSource(
  name: SourceName,
  { firebaseConfig, now }: { firebaseConfig?: string; now: () => Date },
): Promise<Reading<ReadSource>> {
  if (name !== 'firebase') return { kind: 'ok', value: readers(now)[name] };
  if (firebaseConfig === undefined) return { kind: 'ok', value: readFirebase(null) };
  const config = await readFirebaseConfig(firebaseConfig);
  return config.kind === 'ok' ? { kind: 'ok', value: readFirebase(config.value) } : config;
}

const readers = (now: () => Date): Record<Exclude<SourceName, 'firebase'>, ReadSource> => ({
  vestibule: readVestibule,
  django: readDjango,
  aspnet: readAspnet(now),
  keycloak: readKeycloak,
  auth0: readAuth0,
});
