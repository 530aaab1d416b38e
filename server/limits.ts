export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** How guesses under one kind of key are slowed down. Times in milliseconds. */
export type ThrottleLimit = {
  /** The last failure of these begins the first wait; each further one doubles it. */
  freeFailures: number;
  /** One failure expires at this interval. */
  leakEvery: number;
  firstWait: number;
  longestWait: number;
};

/**
 * What an attacker meets: lifetimes, attempts and sizes; times in milliseconds, sizes in bytes unless named otherwise. Other
 * numbers stand beside the code that uses them.
 */
export const limits = {
  throttle: {
    /** Wrong passwords of one account, or of one unknown name. */
    account: { freeFailures: 5, leakEvery: hour, firstWait: 30 * second, longestWait: 15 * minute },
    /** The same in a browser that signed in before, which nobody else's guesses keep out. */
    device: { freeFailures: 5, leakEvery: hour, firstWait: 30 * second, longestWait: 15 * minute },
    /**
     * Failures from one IPv4 address or one IPv6 /64: a company behind one address must get in, a sprayer must not. Wider
     * networks, and what a whole company begins at once, have a multiple (throttle/throttle-keys.ts).
     */
    address: { freeFailures: 100, leakEvery: 10 * second, firstWait: 10 * second, longestWait: 5 * minute },
    total: { freeFailures: 5000, leakEvery: 100, firstWait: 5 * second, longestWait: minute },
    /** What is counted for one account, each kind apart: codes tried or mailed after one first factor, notices, changes. */
    code: { freeFailures: 10, leakEvery: 10 * minute, firstWait: 30 * second, longestWait: 15 * minute },
    /**
     * Refused answers and messages of providers and passkeys from one address or known browser: nobody guesses a signature,
     * but each costs milliseconds of the one thread.
     */
    costly: { freeFailures: 30, leakEvery: 2 * second, firstWait: 10 * second, longestWait: minute },
  } satisfies Record<string, ThrottleLimit>,
  /** Names without an account share this many rows, so that guessing names cannot fill the table. */
  unknownNameBuckets: 65_536,
  /** Rules whose refusals of one user are recorded apart from each other. */
  accessRuleBuckets: 64,
  /** Full sessions of a user by password, and by each connection: one more ends the one used longest ago. */
  sessionsOfUser: 100,
  /** The same for half ones, from one address. */
  halfSessionsOfUser: 20,
  /** How long a half session waits for each factor. */
  halfSession: 10 * minute,
  /** Longer than any session that may confirm the app whose key it was shown. */
  pendingApp: 20 * minute,
  /** Codes that one half session may try; then the password is required again. */
  codeTries: 5,
  emailCode: 10 * minute,
  /** Emails with a code in one half session, and how far apart. */
  emailCodeSends: 4,
  emailCodeSendEvery: 30 * second,
  recoveryCodes: 10,
  /** How long after registration the recovery codes can be viewed. */
  recoveryCodesShown: 10 * minute,
  rememberedDevice: 30 * day,
  /** A sign-in this recent may register a second factor. */
  freshSignIn: 10 * minute,
  /** How long a ceremony with a passkey may take, from its challenge to its answer. */
  passkeyChallenge: 5 * minute,
  /** How long a browser is known by the cookie that its ceremonies belong to. */
  passkeyBrowser: day,
  passkeysOfUser: 20,
  /** How long a visitor may stay at an identity provider, and how long afterwards their answer leads back to their form. */
  visit: 30 * minute,
  visitRemembered: hour,
  providerAnswer: 5 * second,
  /** How long an OpenID provider's discovery and keys are remembered. */
  providerRemembered: 5 * minute,
  /** The longest answer read from an identity provider, after unpacking. */
  providerBytes: 512 * 1024,
  providerClock: 2 * minute,
  logoutTokenAge: 10 * minute,
  /** A SAML assertion older than this is refused, whatever it says. */
  samlAssertionAge: 10 * minute,
  /** A body with a SAML answer, encoded. */
  samlBodyBytes: 300 * 1024,
  /** Signs of elements, attributes and entities in a SAML message: a body full of groups has fewer. */
  samlSigns: 6500,
  /** The same in a logout message, which is verified for anybody. */
  samlLogoutSigns: 400,
  /** A logout message by redirect, after unpacking, and the RelayState returned with an answer. */
  samlLogoutBytes: 64 * 1024,
  samlRelayState: 2048,
  /** A signature in a SAML message, with the certificates of its KeyInfo. */
  samlSignature: 16 * 1024,
  /** The same in the metadata of SAML providers, including several in one document. */
  samlMetadataSigns: 30_000,
  /** A provider's RSA key with fewer bits causes a warning. */
  weakestRsaKey: 2048,
  /** How long a token for a hub is valid. Each request brings a new one. */
  hubToken: 2 * minute,
  hubKeyAhead: hour,
  /** How long a replaced key stays published: longer than its last token is valid, whatever the clocks say. */
  hubKeyAfter: 10 * minute,
  hubKeyAge: 90 * day,
  resetLink: 60 * minute,
  invitation: 72 * hour,
  /** Reset emails to one account: more within an hour are not sent, and the answer does not reveal it. */
  resetMailsAnHour: 3,
  /** On a slow line people press a code's button again until something happens: for this long it is one press. */
  repeatedSubmit: 10 * second,
  /** The passwords that may not be chosen again, including the current one. */
  passwordsRemembered: 10,
  /** How long the reset hash is kept in a browser without JavaScript after a failed change. */
  resetCookieLifetime: 10 * minute,
  deviceLifetime: 180 * day,
  /** How long the typed name and the reference of a refusal are kept in the browser for the next pages. */
  nextPageLifetime: 10 * minute,
  /**
   * The most that verifying an imported password hash may cost, at most about two seconds of one core (measured, see
   * docs/decisions/0041): argon2 in KiB, and KiB times passes; scrypt in bytes, and N × r × p; PBKDF2 in rounds times
   * blocks of the key. Two forms of a password may be tried for argon2.
   */
  foreignHash: {
    bcryptCost: 14,
    argon2Memory: 128 * 1024,
    argon2Work: 512 * 1024,
    scryptMemory: 128 * 1024 * 1024,
    scryptWork: 2 ** 20,
    pbkdf2Rounds: { sha1: 2_000_000, sha256: 2_000_000, sha512: 1_000_000 },
  },
  /** Waiting password hashes, of one network at most half; any more are answered 503. */
  waitingHashes: 500,
  bodyBytes: 16 * 1024,
  /** A form with a file of people to add, and the lines of the file: what is said of earlier lines stays in memory. */
  importBytes: 16 * 1024 * 1024,
  importLines: 100_000,
  formFields: 20,
  headerBytes: 16 * 1024,
  headerCount: 100,
  /** How long the headers, and the whole request, may take to arrive. */
  headersTimeout: 10 * second,
  requestTimeout: 15 * second,
  /** An idle connection, including a slow reader's, is closed. */
  connectionTimeout: 30 * second,
  keepAliveTimeout: 72 * second,
  /** More connections at once are closed unread; a flood costs memory up to here. */
  connections: 10_000,
  connectionsCheckedEvery: second,
  /** On SIGTERM: how long the process may take to end; open requests have this time less stopBesideWithin. */
  stopWithin: 15 * second,
  stopBesideWithin: 5 * second,
  /** How often the sessions behind open streams of a hub are looked at. */
  streamsLookedAtEvery: 5 * second,
  hub: {
    /** How long an answer of the hub, or its reader, may make no progress. */
    progress: minute,
    /** The same for events and WebSockets, which may be silent. */
    silence: hour,
    idleConnections: 256,
  },
} as const;
