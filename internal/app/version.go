package app

// Version is the program's version; a release sets it when it is linked.
var Version = "0.1.0-dev"
