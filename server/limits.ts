export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** How guesses under one kind of key are slowed down. Times in milliseconds. */
export type ThrottleLimit = {
  /** Failures that cost nothing; each further one makes the next wait twice as long. */
  freeFailures: number;
  /** One failure is forgotten every so often. */
  leakEvery: number;
  firstWait: number;
  longestWait: number;
};

/** How much of everything a document of somebody else may hold; what reads it costs time for each of them. */
export type XmlLimits = {
  elements: number;
  depth: number;
  attributes: number;
  attributesOfElement: number;
  /** Different declarations, each a prefix with its namespace. */
  namespaces: number;
  /** Elements that belong to signatures, each kind for itself. */
  signatureParts: number;
  /** Characters that are written as entities or numbers. */
  references: number;
  /** In characters: a tag with its attributes, one value, one name with its prefix. */
  tag: number;
  value: number;
  name: number;
};

/** Every lifetime and attempt count of the product; times in milliseconds, sizes in bytes unless named otherwise. */
export const limits = {
  throttle: {
    account: { freeFailures: 5, leakEvery: hour, firstWait: 30 * second, longestWait: 15 * minute },
    device: { freeFailures: 5, leakEvery: hour, firstWait: 30 * second, longestWait: 15 * minute },
    /** One IPv4 address or one IPv6 /64: a company behind one address must get in, a sprayer must not. */
    address: { freeFailures: 100, leakEvery: 10 * second, firstWait: 10 * second, longestWait: 5 * minute },
    /** One IPv6 /56. */
    network: { freeFailures: 400, leakEvery: 3 * second, firstWait: 10 * second, longestWait: 5 * minute },
    total: { freeFailures: 5000, leakEvery: 100, firstWait: 5 * second, longestWait: minute },
    /** Visits to identity providers begun from one address: a whole company may begin its day at once. */
    sso: { freeFailures: 1000, leakEvery: second / 2, firstWait: 10 * second, longestWait: minute },
    /** Logout tokens from one address that were refused: a provider's are right, or wrong by a mistake in setting it up. */
    logoutToken: { freeFailures: 20, leakEvery: 30 * second, firstWait: 10 * second, longestWait: 5 * minute },
    /** SAML answers from one address that nobody vouched for: each costs milliseconds of the one thread. True ones count nothing. */
    samlFailure: { freeFailures: 30, leakEvery: 2 * second, firstWait: 10 * second, longestWait: minute },
    /** Codes of the second factor, over all half sessions of an account. */
    code: { freeFailures: 10, leakEvery: 10 * minute, firstWait: 30 * second, longestWait: 15 * minute },
    /** Mails with a code to one account. */
    codeMail: { freeFailures: 12, leakEvery: 5 * minute, firstWait: minute, longestWait: 15 * minute },
  } satisfies Record<string, ThrottleLimit>,
  /** Names that no account has share this many rows, so that guessing names cannot fill the table. */
  unknownNameBuckets: 65_536,
  halfSession: 10 * minute,
  /** Codes that one half session may try; then the password is asked again. */
  codeTries: 5,
  emailCode: 10 * minute,
  /** Mails with a code in one half session, and how far apart. */
  emailCodeSends: 4,
  emailCodeSendEvery: 30 * second,
  recoveryCodes: 10,
  /** How long after registration the recovery codes can be looked at. */
  recoveryCodesShown: 10 * minute,
  rememberedDevice: 30 * day,
  /** A phone's clock that is off by no more than this is told from a wrong code. */
  clockHelpWithin: 10 * minute,
  /** Wrong codes after which the clock is looked at. */
  clockHelpAfter: 2,
  /** A sign-in this young may register a second factor. */
  freshSignIn: 10 * minute,
  /** How long a visitor may stay with an identity provider. */
  ssoRequest: 30 * minute,
  /** Visits of one browser that may be out at once; each has a cookie, and the header with all of them has an end. */
  visitsOfBrowser: 10,
  /** An answer that is loaded twice leads where it led the first time, for this long. */
  ssoRequestRemembered: hour,
  /** How long after a sign-out a provider is asked to have the person sign in there once more, at the longest. */
  askedAfresh: 30 * day,
  /** How long a provider's answer waits for the person to agree; shorter than `providerLogoutKept`, which is asked again then. */
  questionOfAnswer: 5 * minute,
  /** The connection by which a browser signed in last. */
  ssoConnectionRemembered: 180 * day,
  /** How long all requests to an identity provider for one page of ours may take together. */
  providerAnswer: 8 * second,
  /** Of these, how long it waits for what it can do without, because there is an older answer or another way. */
  providerPatience: 2 * second,
  /** Longest answer of an identity provider that is read, after unpacking. */
  providerBytes: 512 * 1024,
  /** How long discovery and metadata are believed before they are read again. */
  providerBelieved: 10 * minute,
  /** Unknown keys make the published ones be read again at most this often. */
  providerKeysEvery: minute,
  /** Providers of which one process remembers what they published. */
  providersRemembered: 1000,
  /** How far a provider's clock may be off. */
  providerClock: 2 * minute,
  /** An ID token is made for the code that we have just shown; one older than this is not accepted. */
  idTokenAge: 10 * minute,
  /** A SAML assertion older than this is not accepted, whatever it says of itself. */
  samlAssertionAge: 10 * minute,
  /** A SAML answer waits this long for the browser that brought it: the redirect that follows asks for it at once. */
  samlAnswerWaits: 30 * second,
  /** What a provider's logout named is kept until the last answer from before it has ended, by either clock. */
  providerLogoutKept: 15 * minute,
  /** How often the metadata of SAML providers are read again, to tell what is new in them. */
  samlMetadataReadEvery: day,
  /** A body with a SAML answer, encoded. */
  samlBodyBytes: 256 * 1024,
  /** A SAML answer: 200 groups are 250 elements where they share an attribute, and 450 where each has its own. */
  samlAnswer: {
    elements: 800,
    depth: 16,
    attributes: 1600,
    attributesOfElement: 16,
    namespaces: 40,
    signatureParts: 8,
    references: 2000,
    tag: 4096,
    value: 2048,
    name: 100,
  } satisfies XmlLimits,
  /** A logout message by redirect, after unpacking, and the RelayState that goes back with an answer. */
  samlLogoutBytes: 64 * 1024,
  samlRelayState: 2048,
  /** A signature's value and the digest in it, in base64 with line breaks: RSA of 16,384 bits needs 2,800 characters. */
  samlSignatureValue: 4096,
  /** Prefixes that a signature may name as counting although nothing is written with them. */
  inclusivePrefixes: 20,
  /** The metadata of SAML providers, those of several in one document among them. */
  samlMetadata: {
    elements: 2000,
    depth: 40,
    attributes: 6000,
    attributesOfElement: 40,
    namespaces: 200,
    signatureParts: 100,
    references: 10_000,
    tag: 16 * 1024,
    value: 4096,
    name: 100,
  } satisfies XmlLimits,
  /** A provider's RSA key with fewer bits is warned of. */
  weakestRsaKey: 2048,
  /** Ends of certificates and secrets are warned of from here on. */
  expiryWarning: 60 * day,
  resetLink: 60 * minute,
  /** How long a browser tells of its last sign-in and sign-out: longer than a link lives, also when it was closed. */
  turn: day,
  /** A reset link that is over is told apart from one that never was for this long. */
  resetLinkRemembered: 30 * day,
  /** Reset mails to one account: more within an hour are not sent, and the answer does not tell. */
  resetMailsAnHour: 3,
  /** Two requests as close as this are one press of a button. */
  samePress: 500,
  /** The passwords that may not be chosen again, the one of today among them. */
  passwordsRemembered: 10,
  /** How long the reset hash waits in a browser without script after a failed change. */
  resetCookieLifetime: 10 * minute,
  /** How often the database is asked for work that other processes left. */
  workLookEvery: second,
  /** How many mails one instance has under way at once. */
  mailLanes: 5,
  /** How many a lane takes on at once; it lets go of the rest at the first trouble. */
  mailsTakenOn: 20,
  /** Longer than any conversation with a mail server: a mail that was taken on and not finished is tried again after this. */
  mailTakenOnFor: 5 * minute,
  /** A refused mail is tried again after the first wait, then after twice as long each time, up to the longest. */
  mailFirstWait: 10 * second,
  mailLongestWait: hour,
  /** While the mail server is away it is tried again after this at first, and after this at the longest. */
  mailServerFirstPause: second,
  mailServerLongestPause: minute,
  mailGivenUpAfter: day,
  /** A session's last use is written at most this often, so that the idle end is right to the second. */
  sessionTouchEvery: second,
  deviceLifetime: 180 * day,
  /** A known device's last use is written at most this often. */
  deviceWriteEvery: day,
  /** How long a refused sign-in's typed name and reference wait in the browser. */
  refusalLifetime: 10 * minute,
  /** How long a command waits for its standard input before it says so, and how much it reads of it. */
  stdinHint: 2 * second,
  stdinBytes: 64 * 1024,
  housekeepingEvery: 10 * minute,
  warningsEvery: day,
  /** Password hashes that may wait; what exceeds them is answered 503. */
  waitingHashes: 500,
  busyRetryAfter: 5 * second,
  databaseRetryAfter: 5 * second,
  bodyBytes: 16 * 1024,
  formFields: 20,
  headerBytes: 16 * 1024,
  headerCount: 100,
  /** How long the headers, and the whole request, may take to arrive. */
  headersTimeout: 10 * second,
  requestTimeout: 15 * second,
  /** An answer that takes longer is 503: a database that went silent in the middle of a statement says nothing at all. */
  handlerTimeout: 20 * second,
  /** A connection on which nothing moves, a slow reader among them, is cut. */
  connectionTimeout: 30 * second,
  keepAliveTimeout: 72 * second,
  /** More connections at once are closed unread; a flood costs memory up to here. */
  connections: 10_000,
  connectionsCheckedEvery: second,
  /** On SIGTERM: how long requests under way may take to finish. */
  stopWithin: 10 * second,
  /** Of these, how long the work beside the requests may take. */
  stopBesideWithin: 5 * second,
  stopLooksEvery: 50,
  /** Ctrl-C reaches the portal twice under npm, which passes on what the terminal has sent already: that is one signal. */
  sameSignal: 2 * second,
  /** How often a portal that npm started looks whether npm is still there. */
  parentLookEvery: 200,
  /**
   * mail: how long the mail server may take to be reached and to greet, TLS included; to answer a command; and to take
   * one mail altogether. A connection that nothing is sent on is kept for `idle`.
   */
  mailServer: { reach: 10 * second, answer: 20 * second, takeMail: 30 * second, idle: 10 * second },
  assetLifetimeSeconds: 365 * 24 * 3600,
} as const;
