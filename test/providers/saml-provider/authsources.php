<?php
if (!class_exists('SignInPage')) {
    /** Asks for an address and believes it; sign-in.php takes the answer. */
    class SignInPage extends \SimpleSAML\Auth\Source
    {
        public function authenticate(&$state)
        {
            $id = \SimpleSAML\Auth\State::saveState($state, 'sign-in');
            header('location: ' . getenv('IDP_ORIGIN') . '/sign-in?' . http_build_query(['state' => $id]));
            exit();
        }
    }
}
$config = ['people' => ['SignInPage']];
