-- What people are told of changes that were made on their account page.
alter table mail drop constraint mail_kind_check;
alter table mail add constraint mail_kind_check check (
  kind in ('resetLink', 'singleSignOnHint', 'passwordChanged', 'newDevice', 'signInCode', 'secondFactorAdded', 'secondFactorRemoved',
    'appReplaced', 'appRemoved', 'recoveryCodesMade', 'devicesForgotten', 'sessionsEnded')
);
