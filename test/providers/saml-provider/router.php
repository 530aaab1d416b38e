<?php
// The sign-in page, where nobody is asked for a password; everything else is SimpleSAMLphp's.
use SAML2\Constants;
use SimpleSAML\Auth\Source;
use SimpleSAML\Auth\State;
use SimpleSAML\Module\saml\Error;

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/signed-out') {
    echo '<!DOCTYPE html><html lang="en"><title>Identity provider</title><h1>Signed out</h1>';
    return true;
}
if ($path !== '/sign-in') {
    return false;
}
require_once getenv('IDP_PROGRAM') . '/lib/_autoload.php';
$id = $_REQUEST['state'] ?? '';
if (isset($_GET['cancel'])) {
    $state = State::loadState($id, 'sign-in');
    State::throwException($state, new Error(Constants::STATUS_RESPONDER, Constants::STATUS_AUTHN_FAILED, 'cancelled'));
}
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $options = json_decode(file_get_contents(getenv('IDP_FOLDER') . '/options.json'), true);
    $state = State::loadState($id, 'sign-in');
    $email = $_POST['email'];
    $subject = $_POST['subject'] !== '' ? $_POST['subject'] : 'person-' . sha1($email);
    $state['Attributes'] = ['email' => [$email], 'subject' => [$subject]];
    $state['saml:AuthnContextClassRef'] = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';
    Source::completeAuth($state);
}
?>
<!DOCTYPE html>
<html lang="en">
<title>Identity provider</title>
<h1>Sign in at the identity provider</h1>
<form method="post" action="/sign-in">
    <input type="hidden" name="state" value="<?= htmlspecialchars($id) ?>">
    <label>Email <input name="email" type="email" required></label>
    <label>Subject <input name="subject"></label>
    <button>Sign in</button>
</form>
<a href="/sign-in?<?= htmlspecialchars(http_build_query(['cancel' => 1, 'state' => $id])) ?>">Cancel</a>
