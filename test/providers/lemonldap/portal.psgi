# LemonLDAP::NG's own portal, with what a provider of tests needs and no file of its configuration can say.
use strict;
use warnings;
use JSON qw(decode_json);
use Lemonldap::NG::Portal::Main;
use Lemonldap::NG::Portal::UserDB::Demo;

# It loads a captcha at every start, shown or not, and its own one needs a library for pictures.
package Lemonldap::NG::Portal::Captcha::None {
    use Mouse;
    extends 'Lemonldap::NG::Common::Module';
    sub init { 1 }
}
$INC{'Lemonldap/NG/Portal/Captcha/None.pm'} = __FILE__;

# The people of the module Demo are those of the tests. Their passwords are their names.
my %people = %{ decode_json( $ENV{LLNG_PEOPLE} ) };
%Lemonldap::NG::Portal::UserDB::Demo::demoAccounts =
  map { $_ => { uid => $_, cn => $_, mail => $people{$_} } } keys %people;

my $portal = Lemonldap::NG::Portal::Main->run( {} );

# Its cookies name the domain with a dot before it, which browsers do not take from an address such as 127.0.0.1.
sub {
    my $answer = $portal->(@_);
    s/;\s*domain=[^;]*//i for @{ $answer->[1] };
    return $answer;
};
