get -A
