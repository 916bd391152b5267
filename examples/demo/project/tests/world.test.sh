# Without a name the world is greeted.
[ "$(sh greet.sh)" = "Hello, world!" ]
