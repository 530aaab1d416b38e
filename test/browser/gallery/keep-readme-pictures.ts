import { copyFileSync } from 'node:fs';
import { galleryFolder, type Shot, shotPath } from './shots.ts';

// The README's pictures of the portal, from the gallery: `npm run gallery -- en && node test/browser/gallery/keep-readme-pictures.ts`.

const english = { language: 'en' } as const;

const pictures: Record<string, Shot> = {
  'sign-in': { ...english, of: 'screens', name: 'login', width: 1440, scheme: 'light' },
  'sign-in-dark': { ...english, of: 'screens', name: 'login-notice-signInExpired', width: 390, scheme: 'dark' },
  'new-password': { ...english, of: 'screens', name: 'forgottenChange-hash-of-a-mail', width: 390, scheme: 'light' },
  'two-factor': { ...english, of: 'screens', name: 'twoFactor', width: 1440, scheme: 'dark' },
  'set-up-app': { ...english, of: 'screens', name: 'twoFactorRegistration', width: 390, scheme: 'light' },
  email: { ...english, of: 'mails', name: 'signInCode', width: 390, scheme: 'dark' },
};

for (const [name, shot] of Object.entries(pictures))
  copyFileSync(new URL(shotPath(shot), galleryFolder), new URL(`../../../docs/pictures/${name}.png`, import.meta.url));
