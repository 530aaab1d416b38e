-- Whoever has no password yet is invited to choose one, by a link with rules of its own (docs/decisions/0053).
alter table reset_link
  add column purpose text not null default 'reset' check (purpose in ('reset', 'invitation'));

-- Those of passkeys are in the list as well: this replaces the one of 0048.
alter table mail
  drop constraint mail_kind_check,
  add constraint mail_kind_check check (kind in ('resetLink', 'singleSignOnHint', 'passwordChanged', 'newDevice',
    'signInCode', 'secondFactorAdded', 'secondFactorRemoved', 'appReplaced', 'appRemoved', 'recoveryCodesMade',
    'devicesForgotten', 'sessionsEnded', 'passkeyAdded', 'passkeyRemoved', 'invitation'));
