explain pod --help
